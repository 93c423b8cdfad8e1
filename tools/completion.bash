# Completion of selenite for bash, printed by `selenite help --completion bash`.
_selenite_parameters() {
    "$1" check "$2" --help --script-limit 2 2>/dev/null |
        sed -n 's/^  \([A-Za-z_][A-Za-z0-9_]*\) .*(default .*/\1=/p'
}

_selenite() {
    local word=$2 previous=$3 command=${COMP_WORDS[1]} options='' valued='' file='' i
    local name commands value
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "{{commands $1 }}--version --help" -- "$word")
        return
    fi
    while read -r name commands value _; do
        [[ ,$commands, == *,"$command",* ]] && options+=" $name"
        [[ $value != : ]] || continue
        valued+=" $name "
        [[ $name == "$previous" ]] || continue
        case $value in
        :DIR) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        *\|*) mapfile -t COMPREPLY < <(compgen -W "${value//[:|]/ }" -- "$word") ;;
        esac
        return
    done <<'END'
{{options $1 $2 :$3 $4
}}END
    for ((i = 2; i < COMP_CWORD; i++)); do
        case $valued:${COMP_WORDS[i]} in
        *" ${COMP_WORDS[i]} "*:*) ((i++)) ;;
        *:-?*) ;;
        *) file=${file:-${COMP_WORDS[i]}} ;;
        esac
    done
    case $command:$word in
    *:-*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    help:*)
        if [ "$previous" = --completion ]; then
            mapfile -t COMPREPLY < <(compgen -W "bash zsh" -- "$word")
        elif ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W "{{commands $1 }}{{names $1 }}--man --completion" -- "$word")
        fi ;;
    run:* | check:*)
        if [ -z "$file" ]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -X '!*.lua' -- "$word"; compgen -d -- "$word")
        elif [ "$previous" != = ] && [ "$word" != = ]; then
            compopt -o nospace 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -W "$(_selenite_parameters "$1" "$file")" -- "$word")
        fi ;;
    esac
}
complete -F _selenite selenite
