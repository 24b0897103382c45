// A service manager for a real minion in tests: starts it again when it ends.
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Implementation } from './deployment.ts';

/** `folder`: for the script. */
export function supervised({ bin, name }: Implementation, folder: string): Implementation {
  mkdirSync(folder, { recursive: true });
  const script = `#!/bin/sh
trap 'kill $child; exit 0' TERM
while :; do
  "${bin}/salt-minion" "$@" &
  child=$!
  echo $child >"$2/pid-to-restart"
  wait $child
done
`;
  writeFileSync(`${folder}/salt-minion`, script, { mode: 0o755 });
  return { name, bin: folder };
}

/** What an operator gives as `restart=`: it does not end with the minion. `configDir`: of the minion. */
export const restartOf = (configDir: string): string =>
  `setsid sh -c 'sleep 1; kill $(cat ${configDir}/pid-to-restart)'`;
