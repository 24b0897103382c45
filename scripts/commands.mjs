// The commands that are one bundle each, with V8's code cache: output name → source file, and arguments of a harmless run
// that warms the cache. `{warm}` is a folder with a small tree of states, see warm-up.mjs.
export const commands = {
  salt: { file: 'cli/salt.ts', warmUp: ['-c', '{warm}', '*', 'test.ping'] },
  'salt-call': { file: 'cli/salt-call.ts', warmUp: ['--local', '-c', '{warm}', 'state.apply'] },
  'salt-cp': { file: 'cli/salt-cp.ts', warmUp: ['-c', '/nonexistent', 'x', '/dev/null', '/nonexistent'] },
  'salt-key': { file: 'cli/salt-key.ts', warmUp: ['-c', '{warm}', '-L'] },
  halite: { file: 'cli/halite.ts', warmUp: ['-c', '/nonexistent', 'doctor'] },
  'salt-run': { file: 'cli/salt-run.ts', warmUp: ['-c', '{warm}', 'test.arg', 'a', 'b=1'] },
  'salt-ssh': { file: 'cli/salt-ssh.ts', warmUp: ['-c', '{warm}', '--roster-file', '{warm}/roster', '-H'] },
  'left-out': { file: 'cli/left-out.ts', warmUp: ['spm'] },
};
