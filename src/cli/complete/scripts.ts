// What a shell needs to ask for completions: `halite completion bash` prints it.
import { commandSpecs } from '../options/all.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

const commands = (): string => [...commandSpecs.keys()].join(' ');

const bash = (): string => `# bash completion of Halite. Load it with: source <(halite completion bash)
_halite_complete() {
  mapfile -t COMPREPLY < <(halite complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
  # More of the same word follows.
  [[ \${COMPREPLY[0]-} == *[.=,] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _halite_complete ${commands()}
`;

const zsh = (): string => `#compdef ${commands()}
# zsh completion of Halite: a file _halite in a folder of fpath, or: source <(halite completion zsh)
_halite() {
  local -a found open
  local line
  for line in "\${(@f)$(halite complete zsh "\${(j: :)words[1,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == *[.=,] ]]; then open+=("$line"); else found+=("$line"); fi
  done
  (( \${#found} )) && compadd -a found
  (( \${#open} )) && compadd -S '' -a open
  (( \${#found} + \${#open} )) || _files
}
if [[ $funcstack[1] == _halite ]]; then _halite "$@"; else compdef _halite ${commands()}; fi
`;

const fish = (): string => `# fish completion of Halite. Load it with: halite completion fish | source
function __halite_complete
    halite complete fish (commandline -cp) 2>/dev/null
end
for command in ${commands()}
    complete -c $command -a '(__halite_complete)'
end
`;

export const completionScript = (shell: Shell): string => ({ bash, zsh, fish })[shell]();
