#compdef selenite
# Completion of selenite for zsh, printed by `selenite help --completion zsh`.
_selenite_parameters() {
    "$1" check "$2" --help --script-limit 2 2>/dev/null |
        sed -n 's/^  \([A-Za-z_][A-Za-z0-9_]*\) .*(default .*/\1=/p'
}

_selenite_assignments() {
    local -a assignments
    local file=${words[2]}
    local i
    for ((i = 2; i < CURRENT; i++)); do
        if ((${valued[(Ie)${words[i]}]})); then
            ((i++))
        elif [[ ${words[i]} != -?* ]]; then
            file=${words[i]}
            break
        fi
    done
    assignments=(${(f)"$(_selenite_parameters "$_selenite_program" "$file")"})
    compadd -S '' -a assignments
}

_selenite() {
    local _selenite_program=${~words[1]}
    local -a commands=('--version:the version' '--help:usage')
    local line
    if ((CURRENT == 2)); then
        while read -r line; do
            commands+=($line)
        done <<'END'
{{commands $1:$3
}}END
        _describe command commands
        return
    fi
    shift words
    ((CURRENT--))
    local -a specs=() valued=()
    local name takers value doc
    while read -r name takers value doc; do
        [[ ,$takers, == *,${words[1]},* ]] || continue
        [[ $value = : ]] || valued+=($name)
        name+="[${doc//(#m)[]:[]/\\$MATCH}]"
        case $value in
        :DIR) name+=':DIR:_files -/' ;;
        *\|*) name+=":value:(${value//[:|]/ })" ;;
        :?*) name+="$value: " ;;
        esac
        specs+=($name)
    done <<'END'
{{options $1 $2 :$3 $4
}}END
    case ${words[1]} in
    run | check) specs+=('1:scenario:_files -g "*.lua"' '*:parameter:_selenite_assignments') ;;
    help) specs+=('1:name:({{commands $1 }}{{names $1 }}--man --completion)' '2:shell:(bash zsh)') ;;
    esac
    _arguments $specs
}

if [ "$funcstack[1]" = _selenite ]; then _selenite "$@"; else compdef _selenite selenite; fi
