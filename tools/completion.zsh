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
        case ${words[i]} in
        {{valued}}) ((i++)) ;;
        -?*) ;;
        *) file=${words[i]}; break ;;
        esac
    done
    assignments=(${(f)"$(_selenite_parameters "$_selenite_program" "$file")"})
    compadd -S '' -a assignments
}

_selenite() {
    local _selenite_program=${~words[1]}
    local -a commands=(
{{zsh_commands}}        '--version:the version' '--help:usage'
    )
    if ((CURRENT == 2)); then
        _describe command commands
        return
    fi
    shift words
    ((CURRENT--))
    local -a options=(
{{zsh_options}}    )
    local -a specs=()
    local option
    for option in $options; do
        [[ ,${option%%:*}, == *,${words[1]},* ]] && specs+=("${option#*:}")
    done
    case ${words[1]} in
    run | check) specs+=('1:scenario:_files -g "*.lua"' '*:parameter:_selenite_assignments') ;;
    help) specs+=('1:name:({{help_names}})' '2:shell:(bash zsh)') ;;
    esac
    _arguments $specs
}

if [ "$funcstack[1]" = _selenite ]; then _selenite "$@"; else compdef _selenite selenite; fi
