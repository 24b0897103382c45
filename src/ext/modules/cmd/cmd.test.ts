// Runs real commands: shells, users, limits and results.
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HaliteError, newDict, type PlainDict, type Value } from 'halite/sdk';
import { type TestContext, testContext } from 'halite/testing';
import { afterAll, describe, expect, it } from 'vitest';
import cmd from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-cmd-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const named = (kwargs: Record<string, Value>): PlainDict => newDict(Object.entries({ shell: '/bin/sh', ...kwargs }));
const call = (ctx: TestContext, fun: string, line: Value, kwargs: Record<string, Value> = {}): Promise<Value> =>
  ctx.callWith(`cmd.${fun}`, [line], named(kwargs));
const make = (opts: Record<string, Value> = {}): TestContext => testContext({ modules: [cmd], opts });
const shell = { python_shell: true };

/** Polls until the condition holds; a condition that never holds fails the test by its deadline. */
async function eventually(condition: () => boolean, milliseconds = 45_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen in time');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('cmd.run', () => {
  it('mixes output and error output in order', async () => {
    expect(await call(make(), 'run', 'echo a; echo b >&2; echo c', shell)).toBe('a\nb\nc');
  });

  it('uses no shell for calls of functions', async () => {
    expect(await call(make(), 'run', 'echo $HOME; ls')).toBe('$HOME; ls');
  });

  it('uses a shell for operators, who come with a job id', async () => {
    expect(await call(make(), 'run', 'echo a; echo b', { __pub_jid: '20240101000000000000' })).toBe('a\nb');
  });

  it('refuses what an operator may not run, but not what functions run', async () => {
    const limited = make({ cmd_blacklist_glob: ['rm *'] });
    await expect(call(limited, 'run', 'rm -rf x', { __pub_jid: '1' })).rejects.toThrow(
      'The shell command "rm -rf x" is not permitted',
    );
    const chosen = make({ cmd_whitelist_glob: ['echo *'] });
    await expect(call(chosen, 'run', 'id', { __pub_jid: '1' })).rejects.toThrow('is not permitted');
    expect(await call(chosen, 'run', 'echo ok')).toBe('ok');
  });

  it('makes the return code of the command that of the job', async () => {
    const ctx = make();
    await call(ctx, 'run', 'exit 3', shell);
    expect(ctx.state.retcode).toBe(3);
    await call(ctx, 'run', 'exit 3', { ...shell, ignore_retcode: true });
    expect(ctx.state.retcode).toBe(0);
    await call(ctx, 'run', 'exit 3', { ...shell, success_retcodes: '3,4' });
    expect(ctx.state.retcode).toBe(0);
    await call(ctx, 'run', 'echo fine; exit 3', { ...shell, success_stdout: ['fine'] });
    expect(ctx.state.retcode).toBe(0);
  });

  it('fails with raise_err', async () => {
    await expect(call(make(), 'run', 'echo no; exit 1', { ...shell, raise_err: true })).rejects.toThrow('no');
  });

  it('kills everything at the time limit and says so', async () => {
    const mark = join(folder, 'late');
    const answer = await call(make(), 'run', `(sleep 30; touch ${mark}) & sleep 30`, { ...shell, timeout: 0.3 });
    expect(answer).toMatch(/ : Timed out after 0\.3 seconds$/);
    expect(existsSync(mark)).toBe(false);
  });

  it('passes input with real line breaks', async () => {
    expect(await call(make(), 'run', 'cat', { stdin: 'a\\nb' })).toBe('a\nb');
    expect(await call(make(), 'run', 'cat', { stdin: 'a\\nb', stdin_raw_newlines: true })).toBe('a\\nb');
  });

  it('runs in the C locale with the environment given', async () => {
    const answer = await call(make(), 'run', 'echo $LC_ALL-$LC_TIME-$A-$B', {
      ...shell,
      env: [{ A: '1' }, { B: true }],
    });
    expect(answer).toMatch(/-C-1-True$/);
  });

  it('starts with an empty environment when asked', async () => {
    const answer = await call(make(), 'run', 'env', {
      clean_env: true,
      reset_system_locale: false,
      env: { ONLY: 'x' },
    });
    expect(
      String(answer)
        .split('\n')
        .filter((line) => !/^(PWD|SHLVL|_|OLDPWD)=/.test(line)),
    ).toEqual(['ONLY=x']);
  });

  it('puts folders before PATH', async () => {
    expect(await call(make(), 'run', 'echo $PATH', { ...shell, prepend_path: '/first' })).toMatch(/^\/first:/);
  });

  it('keeps or drops white space at the end', async () => {
    expect(await call(make(), 'run', 'printf "a \\n\\n"', shell)).toBe('a');
    expect(await call(make(), 'run', 'printf "a \\n\\n"', { ...shell, rstrip: false })).toBe('a \n\n');
  });

  it('reads output in the encoding it has', async () => {
    expect(await call(make(), 'run', "printf '\\351'", { ...shell, output_encoding: 'latin1' })).toBe('é');
  });

  it('gives the signal that ended a command as Python does', async () => {
    expect(await call(make(), 'run_all', 'kill -9 $$', shell)).toMatchObject({ retcode: -9 });
    expect(await call(make(), 'retcode', 'kill -TERM $$', shell)).toBe(-15);
    expect(await call(make(), 'retcode', 'exit 137', shell)).toBe(137);
  });

  it('ignores a password', async () => {
    expect(await call(make(), 'run', 'echo x', { password: 'x' })).toBe('x');
  });

  it('hides output', async () => {
    expect(await call(make(), 'run', 'echo secret', { hide_output: true })).toBe('');
  });

  it('applies a umask and refuses an invalid one', async () => {
    expect(await call(make(), 'run', 'umask', { ...shell, umask: '027' })).toMatch(/^0?027$/);
    await expect(call(make(), 'run', 'x', { umask: '000' })).rejects.toThrow('Zero umask is not allowed.');
    await expect(call(make(), 'run', 'x', { umask: '9' })).rejects.toThrow("Invalid umask: '9'");
  });

  it.each([
    [{ cwd: '/no/such/folder' }, "Specified cwd '/no/such/folder' either not absolute or does not exist"],
    [{ cwd: 'relative' }, "Specified cwd 'relative' either not absolute or does not exist"],
    [{ shell: '/no/shell' }, 'The shell /no/shell is not available'],
    [{ runas: 'no_such_user_' }, "User 'no_such_user_' is not available"],
    [{ group: 'no_such_group_' }, "Group 'no_such_group_' is not available"],
    [{ output_encoding: 'nope' }, 'unknown encoding: nope'],
    [{ success_retcodes: 'x' }, 'success_retcodes must be a list of integers'],
    [{ template: 'nope' }, 'Attempted to render file paths with unavailable engine nope'],
  ])('refuses %o', async (kwargs, message) => {
    await expect(call(make(), 'run', 'echo x', kwargs as unknown as Record<string, Value>)).rejects.toThrow(message);
  });

  it('names the program that is missing', async () => {
    const failure = call(make(), 'run', 'no_such_program_ x');
    await expect(failure).rejects.toThrow(
      /^Unable to run command '\['no_such_program_', 'x'\]' with the context '\{'cwd': /,
    );
    await expect(failure).rejects.toThrow("reason: [Errno 2] No such file or directory: 'no_such_program_'");
    await expect(failure).rejects.toBeInstanceOf(HaliteError);
  });

  it('does not show the command of a quiet call', async () => {
    await expect(call(make(), 'run', 'no_such_program_ secret', { output_loglevel: 'quiet' })).rejects.not.toThrow(
      'secret',
    );
  });

  it('accepts arguments as a list', async () => {
    expect(await call(make(), 'run', ['echo', 'a  b', '$HOME'])).toBe('a  b $HOME');
  });
});

describe('related functions', () => {
  it('separates the streams', async () => {
    expect(await call(make(), 'run_stdout', 'echo a; echo b >&2', shell)).toBe('a');
    expect(await call(make(), 'run_stderr', 'echo a; echo b >&2', shell)).toBe('b');
    const all = (await call(make(), 'run_all', 'echo a; echo b >&2; exit 2', shell)) as PlainDict;
    expect(all).toMatchObject({ retcode: 2, stdout: 'a', stderr: 'b' });
    expect(typeof all['pid']).toBe('number');
    expect(await call(make(), 'retcode', 'exit 5', shell)).toBe(5);
    expect(await call(make(), 'shell', 'echo a | tr a b')).toBe('b');
  });

  it('starts in the background and does not wait', async () => {
    const mark = join(folder, 'background');
    const started = (await call(make(), 'run_bg', `touch ${mark}`, shell)) as PlainDict;
    expect(started['pid']).toBeGreaterThan(0);
    await eventually(() => existsSync(mark));
  });

  it('runs scripts with their arguments and leaves nothing behind', async () => {
    const script = join(folder, 'script.sh');
    writeFileSync(script, '#!/bin/sh\necho "$# $2"; exit 5\n');
    chmodSync(script, 0o600);
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('.halite-'));
    expect(await make().callWith('cmd.script', [script, "a 'b c'"], named({}))).toMatchObject({
      retcode: 5,
      stdout: '2 b c',
    });
    expect(await make().callWith('cmd.script_retcode', [script], named({ template: null }))).toBe(5);
    expect(await make().callWith('cmd.script', [join(folder, 'missing.sh')], named({}))).toMatchObject({
      cache_error: true,
      retcode: 1,
    });
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('.halite-'))).toEqual(before);
  });

  it('runs source text', async () => {
    expect(await make().callWith('cmd.exec_code', ['sh', 'echo "$1"'], newDict([['args', 'x y']]))).toBe('x y');
    expect(await make().callWith('cmd.exec_code_all', ['sh', 'exit 3'], newDict())).toMatchObject({ retcode: 3 });
  });

  it('finds programs', async () => {
    const ctx = make();
    expect(await ctx.call('cmd.which', 'sh')).toMatch(/\/sh$/);
    expect(await ctx.call('cmd.which', 'no_such_program_')).toBeNull();
    expect(await ctx.call('cmd.which_bin', ['no_such_program_', 'sh'])).toMatch(/\/sh$/);
    expect(await ctx.call('cmd.has_exec', 'sh')).toBe(true);
    expect(await ctx.call('cmd.shells')).toEqual(
      readFileSync('/etc/shells', 'utf8')
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line && !line.startsWith('#')),
    );
    expect(await ctx.call('cmd.shell_info', 'fish')).toMatchObject({ installed: null });
  });

  it('writes to terminals only', async () => {
    const ctx = make();
    expect(await ctx.call('cmd.tty', 'foo', 'x')).toEqual({ Error: 'The specified device is not a valid TTY' });
    expect(await ctx.call('cmd.tty', 'tty/../../tmp/x', 'x')).toEqual({
      Error: 'The specified device is not a valid TTY',
    });
  });

  it('refuses PowerShell', async () => {
    await expect(call(make(), 'powershell', 'dir')).rejects.toThrow('only available on Windows');
  });
});
