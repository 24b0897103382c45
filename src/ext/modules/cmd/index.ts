// Execution module `cmd`: run commands, scripts and pieces of code.
import { commandError, defineModule, fn, isTruthy, newDict, p, pyStr } from 'halite/sdk';
import { closeSync, openSync, writeSync } from 'halite/sdk/fs';
import { which, whichFirst } from 'halite/sdk/system';
import { runInChroot } from './chroot.ts';
import * as params from './params.ts';
import { outcomeDict, run } from './run.ts';
import { runCode, runScript } from './scripts.ts';
import { listedShells, shellInfo } from './shells.ts';

const refuseWindows = (): never => {
  throw commandError('PowerShell functions are only available on Windows minions');
};

const running = {
  run: fn({
    doc: 'Runs a command and returns what it printed, error output included.',
    examples: [
      `salt '*' cmd.run "ls -l | awk '/foo/{print \\\\$2}'"`,
      `salt '*' cmd.run 'echo $0' shell=/bin/sh`,
      `salt '*' cmd.run 'date' runas=nobody env='{"TZ": "UTC"}'`,
    ],
    params: params.runParams,
    async run(args, ctx) {
      const { retcode, stdout } = await run(args, ctx);
      const shown = args.hide_output ? '' : stdout;
      if (retcode && args.raise_err && !args.ignore_retcode && args.output_loglevel !== 'quiet')
        throw commandError(shown);
      return shown;
    },
  }),
  shell: fn({
    doc: 'Like cmd.run, and always through a shell.',
    examples: [`salt '*' cmd.shell "ls -l | grep foo"`],
    params: params.shellParams,
    async run(args, ctx) {
      const { stdout } = await run(
        { ...args, python_shell: isTruthy(args.kwargs['python_shell'] ?? true), redirect_stderr: true },
        ctx,
      );
      return args.hide_output ? '' : stdout;
    },
  }),
  run_stdout: fn({
    doc: 'Runs a command and returns only its standard output.',
    examples: [`salt '*' cmd.run_stdout "ls -l | awk '/foo/{print \\\\$2}'"`],
    params: params.streamParams,
    run: async (args, ctx) => (await run(args, ctx)).stdout.slice(0, args.hide_output ? 0 : undefined),
  }),
  run_stderr: fn({
    doc: 'Runs a command and returns only its error output.',
    examples: [`salt '*' cmd.run_stderr "ls -l /nowhere"`],
    params: params.streamParams,
    run: async (args, ctx) => (await run(args, ctx)).stderr.slice(0, args.hide_output ? 0 : undefined),
  }),
  run_all: fn({
    doc: 'Runs a command and returns process id, return code, output and error output.',
    examples: [`salt '*' cmd.run_all "ls -l /nowhere"`],
    params: params.runAllParams,
    async run(args, ctx) {
      const outcome = await run(args, ctx);
      if (args.hide_output) Object.assign(outcome, { stdout: '', stderr: '' });
      return outcomeDict(outcome);
    },
  }),
  retcode: fn({
    doc: 'Runs a command and returns only its return code.',
    examples: [`salt '*' cmd.retcode "file /bin/bash"`],
    params: params.retcodeParams,
    run: async (args, ctx) => (await run({ ...args, redirect_stderr: true }, ctx)).retcode,
  }),
  run_bg: fn({
    doc: 'Starts a command, does not wait for it, and returns its process id.',
    examples: [`salt '*' cmd.run_bg "fstrim-all"`],
    params: params.backgroundParams,
    run: async (args, ctx) => newDict([['pid', (await run({ ...args, bg: true }, ctx)).pid]]),
  }),
  run_chroot: fn({
    doc: 'Runs a command with another folder as root; /dev, /proc and /sys are mounted there meanwhile.',
    examples: [`salt '*' cmd.run_chroot /var/lib/lxc/container_name/rootfs 'sh /tmp/bootstrap.sh'`],
    params: params.chrootParams,
    async run(args, ctx) {
      const outcome = await runInChroot(args, ctx);
      if (args.hide_output) Object.assign(outcome, { stdout: '', stderr: '' });
      return outcomeDict(outcome);
    },
  }),
};

const scripts = {
  script: fn({
    doc: 'Fetches a script, runs it on the minion and returns what cmd.run_all does. The script need not be executable and is removed afterwards.',
    examples: [
      "salt '*' cmd.script salt://scripts/runme.sh",
      "salt '*' cmd.script salt://scripts/runme.sh 'arg1 arg2 \"arg 3\"'",
      "salt '*' cmd.script salt://scripts/runme.sh stdin='one\\ntwo\\nthree\\n'",
    ],
    params: params.scriptParams,
    run: (args, ctx) => runScript(args, ctx),
  }),
  script_retcode: fn({
    doc: 'Like cmd.script, and returns only the return code.',
    examples: ["salt '*' cmd.script_retcode salt://scripts/runme.sh template=null"],
    params: params.scriptRetcodeParams,
    async run(args, ctx) {
      const template = typeof args.template === 'string' ? args.template : null;
      return (await runScript({ ...args, template }, ctx))['retcode'] ?? 1;
    },
  }),
  exec_code: fn({
    doc: 'Runs source text with an interpreter and returns its output.',
    examples: [
      `salt '*' cmd.exec_code ruby 'puts 1 + 1'`,
      `salt '*' cmd.exec_code python3 'import sys; print(sys.argv[1])' args='x'`,
    ],
    params: params.codeParams,
    run: async (args, ctx) => (await runCode(args, ctx))['stdout'] ?? '',
  }),
  exec_code_all: fn({
    doc: 'Runs source text with an interpreter and returns what cmd.run_all does.',
    examples: [`salt '*' cmd.exec_code_all ruby 'puts 1 + 1'`],
    params: params.codeParams,
    run: (args, ctx) => runCode(args, ctx),
  }),
  powershell: fn({
    doc: 'Windows only: refused here.',
    params: { cmd: p.oneOf(['bool', 'string', 'list']), kwargs: p.kwargs() },
    run: refuseWindows,
  }),
  powershell_all: fn({
    doc: 'Windows only: refused here.',
    params: { cmd: p.oneOf(['bool', 'string', 'list']), kwargs: p.kwargs() },
    run: refuseWindows,
  }),
};

function writeToTerminal(device: string, text: string): [string, string] {
  const path = device.startsWith('tty')
    ? `/dev/${device}`
    : device.startsWith('pts')
      ? `/dev/${device.replace('pts', 'pts/')}`
      : '';
  if (!path || !/^\/dev\/(tty\w*|pts\/\d+)$/.test(path)) return ['Error', 'The specified device is not a valid TTY'];
  try {
    const file = openSync(path, 'a');
    try {
      writeSync(file, text);
    } finally {
      closeSync(file);
    }
    return ['Success', `Message was successfully echoed to ${path}`];
  } catch {
    return ['Error', `Echoing to ${path} returned error`];
  }
}

const looking = {
  which: fn({
    doc: 'The path of a program, or None.',
    examples: ["salt '*' cmd.which cat"],
    params: { cmd: p.text() },
    run: ({ cmd }) => which(cmd),
  }),
  which_bin: fn({
    doc: 'The path of the first program that exists, or None.',
    examples: ["salt '*' cmd.which_bin '[pip3, pip, pip-python]'"],
    params: { cmds: p.oneOf(['string', 'list']) },
    run: ({ cmds }) =>
      typeof cmds === 'string' ? which(cmds) : Array.isArray(cmds) ? whichFirst(cmds.map(pyStr)) : null,
  }),
  has_exec: fn({
    doc: 'Whether a program can be found and run.',
    examples: ["salt '*' cmd.has_exec cat"],
    params: { cmd: p.text() },
    run: ({ cmd }) => which(cmd) !== null,
  }),
  shells: fn({
    doc: 'The login shells /etc/shells lists.',
    examples: ["salt '*' cmd.shells"],
    run: () => listedShells(),
  }),
  shell_info: fn({
    doc: 'Whether a shell or interpreter is installed, where, and its version: bash, zsh, tcsh, perl, python, ruby, php.',
    examples: ["salt '*' cmd.shell_info bash"],
    params: { shell: p.string(), list_modules: p.bool({ default: false, doc: 'Windows only' }) },
    run: ({ shell }, ctx) => shellInfo(shell, ctx),
  }),
  tty: fn({
    doc: 'Prints a text on a terminal of the minion.',
    examples: ["salt '*' cmd.tty tty0 'This is a test'", "salt '*' cmd.tty pts3 'This is a test'"],
    params: { device: p.string(), echo: p.string({ default: '' }) },
    run: ({ device, echo }) => newDict([writeToTerminal(device, echo)]),
  }),
};

export default defineModule({
  name: 'cmd',
  doc: 'Runs commands, scripts and source text on the minion.',
  reads: ['which', 'which_bin', 'has_exec', 'shells', 'shell_info'],
  functions: { ...running, ...scripts, ...looking },
});
