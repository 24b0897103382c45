// What runs on a target before our program does: POSIX shell, in one argument, for every login shell. The texts contain
// no single quote and no exclamation mark, and every line may be joined with the next one.
import { framesLine } from '../protocol/wire/stdio/frames.ts';

/** Begins every line that our scripts print. */
export const mark = '@halite-1';

export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** For a folder in `d`. */
export const expandHome = `case $d in "~/"*) d=$HOME/\${d#??};; esac;`;

const joined = (lines: string): string =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');

/**
 * Arguments: folder, hashes of runtimes, hash of the program, "fresh" to remove both first, "wipe" to remove the folder
 * at the end, "tty" where errors would mix with the output. Runs the program when it and a runtime are there; otherwise prints what this machine is like and waits
 * until it is told to look again, with the hashes of runtimes that count now.
 *
 * The folder lies where everybody may write. Whoever else makes it, or a link in its place, at any moment, must not decide
 * what runs here: the folder is made by itself, which follows no link, and one look says both what it is and whose. What
 * is neither empty nor known by its files stays as it is: a wrong `thin_dir` must not cost the files of others.
 */
const runScript = joined(`
  d=$1; n=$2; a=$3; f=$4; w=$5; t=$6; m=$(umask);
  say() { printf "%s\\n" "${mark} $*"; };
  ${expandHome}
  umask 077;
  p=\${d%/*};
  [ -d "\${p:-/}" ] || mkdir -p "$p" 2>/dev/null;
  [ -L "$d" ] || [ -d "$d" ] || mkdir "$d" 2>/dev/null;
  o=$(ls -ldn "$d" 2>/dev/null | { read -r q l o l; printf "%s" "$q $o"; });
  case $o in d*" $(id -u)");; d*) say bad owner; exit 0;; l*) say bad link; exit 0;; *) say bad create; exit 0;; esac;
  h=$d/halite;
  k=;
  for c in "$d/running_data" "$d/thin_checksum" "$h"/app-* "$h"/node-* "$h/own-node" "$h"/.part-*; do [ -e "$c" ] && k=y; done;
  case $(ls -A "$d") in ""|halite) [ -z "$(ls -A "$h" 2>/dev/null)" ] && k=y;; esac;
  [ -n "$k" ] || { say bad foreign; exit 0; };
  chmod 700 "$d" 2>/dev/null;
  [ "$f" = fresh ] && rm -rf "$h";
  if [ -L "$h" ]; then say bad link; exit 0; fi;
  mkdir -p "$h" 2>/dev/null || { say bad full; exit 0; };
  [ -O "$h" ] || { say bad owner; exit 0; };
  while :; do
    r=;
    for c in "$h"/node-*; do case " $n " in *" \${c##*/node-} "*) [ -x "$c" ] && r=$c;; esac; done;
    [ -z "$r" ] && [ -x "$h/own-node" ] && r=$h/own-node;
    if [ -n "$r" ] && [ -f "$h/app-$a.cjs" ]; then
      say run;
      unset NODE_OPTIONS;
      umask "$m";
      [ "$t" = tty ] && exec 2>/dev/null;
      [ "$w" = wipe ] || exec "$r" --no-warnings "$h/app-$a.cjs" "$d" 3<&0 4>&1 </dev/null 1>&2;
      trap "" 1;
      "$r" --no-warnings "$h/app-$a.cjs" "$d" 3<&0 4>&1 </dev/null 1>&2; e=$?;
      rm -rf "$d";
      exit $e;
    fi;
    x=noexec;
    if printf "#\\041/bin/sh\\nexit 0\\n" > "$h/.test" 2>/dev/null; then
      chmod 700 "$h/.test"; "$h/.test" >/dev/null 2>&1 && x=exec;
    else x=full; fi;
    rm -f "$h/.test";
    b=$(head -c 5 "/proc/$$/exe" 2>/dev/null | tail -c 1); z=; [ "$b" = "$(printf "\\001")" ] && z=-32;
    l=unknown; g=$(getconf GNU_LIBC_VERSION 2>/dev/null) && l=glibc-\${g#* };
    for y in /lib/ld-musl-*; do [ -e "$y" ] && l=musl; done;
    u=; for c in zstd xz gzip sha256sum shasum openssl; do command -v $c >/dev/null 2>&1 && u=$u$c,; done;
    k=$(df -Pk "$h" 2>/dev/null | { read -r q; read -r q q q k q; printf "%s" "$k"; });
    v=; c=$(command -v node 2>/dev/null) && v=$("$c" -p process.versions.node 2>/dev/null);
    p=no; [ -f "$h/app-$a.cjs" ] && p=yes;
    q=no; [ -n "$r" ] && q=yes;
    say needs "$(uname -s)" "$(uname -m)$z" "$l" "\${u:--}" "\${k:-0}" "$x" "\${v:--}" "$q" "$p";
    while :; do
      IFS= read -r i || exit 0;
      case $i in *"@again@ "*) n=\${i##*@again@ }; break;; *@stop@) [ "$w" = wipe ] && rm -rf "$d"; exit 0;; esac;
    done;
  done;
`);

/**
 * Arguments: folder, kind (node or app), name, SHA-256, how it is packed (brotli: the runtime unpacks it). Writes the standard input to that file when
 * its hash is right; older files of the kind are removed, and what a process left that was killed here.
 */
const putScript = joined(`
  d=$1; k=$2; f=$3; s=$4; z=$5;
  say() { printf "%s\\n" "${mark} $*"; };
  ${expandHome}
  h=$d/halite;
  umask 077;
  unset NODE_OPTIONS;
  while IFS= read -r i; do case $i in *${framesLine}) break;; esac; done;
  for o in "$h"/.part-*; do [ -e "$o" ] || continue; kill -0 "\${o##*-}" 2>/dev/null || rm -f "$o"; done;
  t=$h/.part-$$;
  trap "rm -f \\"$t\\"" 0 1 2 15;
  r=; for c in "$h"/node-* "$h/own-node"; do [ -x "$c" ] && r=$c; done;
  case $z in
    gzip) gzip -dc;;
    zstd) zstd -dcq;;
    xz) xz -dc;;
    brotli) "$r" -e "process.stdin.pipe(zlib.createBrotliDecompress()).pipe(process.stdout)";;
  esac > "$t" || { say failed "$z"; exit 0; };
  g=$( { sha256sum "$t" || shasum -a 256 "$t" || openssl dgst -sha256 -r "$t"; } 2>/dev/null );
  g=\${g%% *};
  [ "$g" = "$s" ] || { say failed sum; exit 0; };
  chmod 700 "$t";
  mv -f "$t" "$h/$f" || { say failed write; exit 0; };
  for o in "$h/$k"-*; do [ "$o" = "$h/$f" ] || rm -f "$o"; done;
  [ "$k" = node ] && rm -f "$h/own-node";
  say done;
`);

/** Arguments: folder. Lets the folder use the Node.js of this machine. */
const adoptScript = joined(`
  d=$1;
  ${expandHome}
  c=$(command -v node) && ln -sf "$c" "$d/halite/own-node" && printf "%s\\n" "${mark} done";
`);

const shell = (script: string, words: readonly string[]): string =>
  `/bin/sh -c ${quoted(script)} salt-ssh ${words.map(quoted).join(' ')}`;

export interface RunWords {
  readonly folder: string;
  /** Hashes of those that may be used, with blanks in between. */
  readonly runtimes: string;
  readonly program: string;
  readonly fresh: boolean;
  readonly wipe: boolean;
  readonly tty: boolean;
}

export const runCommand = ({ folder, runtimes, program, fresh, wipe, tty }: RunWords): string =>
  shell(runScript, [folder, runtimes, program, fresh ? 'fresh' : '-', wipe ? 'wipe' : '-', tty ? 'tty' : '-']);

export const putCommand = (
  folder: string,
  kind: 'node' | 'app',
  name: string,
  sha256: string,
  packed: string,
): string => shell(putScript, [folder, kind, name, sha256, packed]);

export const adoptCommand = (folder: string): string => shell(adoptScript, [folder]);

export interface Around {
  readonly tty: boolean;
  /** Whether and how sudo is used; `-n` when no password is known. */
  readonly sudo: { readonly user: string; readonly password: boolean } | undefined;
  readonly umask: string;
  readonly setPath: string;
}

/** A PATH with `$PATH` replaced there and nothing else. */
const pathWord = (path: string): string =>
  path
    .split(/(\$PATH|\$\{PATH\})/)
    .map((part, at) => (at % 2 === 1 ? '"$PATH"' : quoted(part)))
    .join('');

/** With terminal settings, umask, PATH and sudo as the roster says. */
export function around(command: string, { tty, sudo, umask, setPath }: Around): string {
  const before = [
    ...(tty ? ['stty raw -echo 2>/dev/null'] : []),
    ...(setPath ? [`PATH=${pathWord(setPath)}; export PATH`] : []),
    ...(umask ? [`umask ${umask}`] : []),
  ];
  const how = sudo?.password ? ['-S', '-p', "''"] : ['-n'];
  const run = sudo
    ? ['sudo', ...how, ...(sudo.user ? ['-u', quoted(sudo.user)] : []), '--', command].join(' ')
    : command;
  return before.length === 0 ? `exec ${run}` : `${before.join('; ')}; exec ${run}`;
}
