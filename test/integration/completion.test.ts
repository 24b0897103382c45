// Completion in real shells.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { halite, runProgram } from '../support/deployment.ts';
import { preparedProgram } from '../support/servers/server.ts';

let folder: string;
const env = { PATH: `${halite.bin}:${process.env['PATH'] ?? ''}` };
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-completion-'));
  mkdirSync(join(folder, 'pki/minions'), { recursive: true });
  for (const id of ['web1', 'web2', 'db1']) writeFileSync(join(folder, 'pki/minions', id), 'key');
  writeFileSync(join(folder, 'master'), `pki_dir: ${folder}/pki\nroot_dir: ${folder}\nuser: root\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const shown = async (shell: string, script: string): Promise<string[]> => {
  const args = shell === 'fish' ? ['--no-config', '-c', script] : ['-c', script];
  const { stdout, stderr } = await runProgram(shell, args, { env });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
};

describe('completion', () => {
  const bash = (line: string): Promise<string[]> =>
    shown(
      'bash',
      `source <(halite completion bash); COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _halite_complete; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );

  it('in bash: ids, functions, and what follows the last end of a word', async () => {
    expect(await bash(`salt -c ${folder} we`)).toEqual(['web1', 'web2']);
    expect(await bash(`salt -c ${folder} web1 test.pi`)).toEqual(['test.ping']);
    expect(await bash(`salt -c ${folder} web1 --out=js`)).toEqual(['json']);
    expect(await bash('salt-run jobs.list_jobs search_t')).toEqual(['search_target=']);
  });

  const fish = preparedProgram('fish', 'fish');
  it.runIf(fish)('in fish, with a line about each function', async () => {
    const line = `salt -c ${folder} web1 test.pi`;
    const [found = ''] = await shown('fish', `halite completion fish | source; complete -C '${line}'`);
    expect(found).toMatch(/^test\.ping\t\S/);
  });

  const zsh = preparedProgram('zsh', 'zsh');
  it.runIf(zsh)('in zsh', async () => {
    // What zsh would add is caught: its line editor needs a terminal.
    const script = [
      'autoload -Uz compinit && compinit -u -D',
      'source <(halite completion zsh)',
      `compadd() { while [[ $1 == -* && $1 != -a ]]; do shift; [[ $1 == "" ]] && shift; done; shift; print -l \${(P)1} }`,
      `words=(salt -c ${folder} we); CURRENT=4; _halite`,
    ].join('\n');
    expect(await shown('zsh', script)).toEqual(['web1', 'web2']);
  });

  it('says which shells there are', async () => {
    const { stderr, code } = await runProgram(join(halite.bin, 'halite'), ['completion', 'bsh']);
    expect(code).toBe(64);
    expect(stderr).toContain('one of bash, zsh, fish; did you mean bash?');
  });
});
