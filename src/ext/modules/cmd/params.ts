// Parameters shared by the functions that run commands, each declared once.
import { type ArgsOf, p } from 'halite/sdk';

/** Salt takes the shell of the minion's own environment as default. */
export const defaultShell = process.env['SHELL'] || '/bin/sh';

const all = {
  cmd: p.oneOf(['bool', 'string', 'list'], { doc: 'the command line, or a list of words that is run without a shell' }),
  cwd: p.string({ default: null, doc: 'folder to run in; the home of the user the command runs as when not given' }),
  stdin: p.string({ default: null, doc: 'text given to the command; `\\n` in it becomes a new line' }),
  runas: p.string({ default: null, doc: 'user to run as, with the login environment of that user' }),
  group: p.string({ default: null, doc: 'group to run as' }),
  shell: p.string({ default: defaultShell, doc: 'shell that reads the command line' }),
  python_shell: p.truthy({
    default: null,
    nullable: true,
    doc: 'whether a shell reads the line; yes for commands of operators, no for calls of functions',
  }),
  env: p.oneOf(['dict', 'list', 'string'], {
    default: null,
    doc: 'environment variables to add: a dictionary or a list of one-key dictionaries',
  }),
  clean_env: p.bool({ default: false, doc: 'start with an empty environment' }),
  template: p.string({ default: null, doc: 'render the command line (or script) with this engine first' }),
  rstrip: p.bool({ default: true, doc: 'remove white space at the end of output' }),
  umask: p.string({ default: null, doc: 'file mode creation mask, octal' }),
  output_encoding: p.string({ default: null, doc: 'how the output is encoded; UTF-8 unless given' }),
  output_loglevel: p.string({
    default: 'debug',
    doc: 'level at which output is logged; `quiet` logs nothing, not even the command',
  }),
  log_callback: p.ignored({ default: null, doc: 'accepted and ignored' }),
  hide_output: p.bool({ default: false, doc: 'return no output' }),
  timeout: p.scalar({ default: null, doc: 'seconds after which the command and everything it started is killed' }),
  reset_system_locale: p.bool({ default: true, doc: 'run with the C locale, so that output is English' }),
  ignore_retcode: p.bool({ default: false, doc: 'a return code other than 0 is not a failure' }),
  saltenv: p.string({ default: null, doc: 'file server environment of templates and scripts' }),
  use_vt: p.ignored({ default: false, doc: 'accepted; output is collected as without it' }),
  redirect_stderr: p.bool({ default: true, doc: 'merge error output into the output' }),
  bg: p.bool({ default: false, doc: 'do not wait for the command to end' }),
  password: p.ignored({ default: null, doc: 'Windows only' }),
  encoded_cmd: p.bool({ default: false, doc: 'Windows only' }),
  raise_err: p.bool({ default: false, doc: 'fail the function when the command fails' }),
  prepend_path: p.string({ default: null, doc: 'folders put before PATH' }),
  success_retcodes: p.oneOf(['list', 'string'], { default: null, doc: 'return codes that count as 0' }),
  success_stdout: p.oneOf(['list', 'string'], {
    default: null,
    doc: 'texts in the output that make the return code 0',
  }),
  success_stderr: p.oneOf(['list', 'string'], {
    default: null,
    doc: 'texts in the error output that make the return code 0',
  }),
  kwargs: p.kwargs(),
};

export type Name = keyof typeof all;
/** The arguments of any of these functions: a subset of the shared parameters. */
export type RunArgs = Partial<ArgsOf<typeof all>> & { readonly cmd: ArgsOf<typeof all>['cmd'] };

type Words<S extends string> = S extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : S;

/** The shared parameters with these names, in this order, which is the positional order. */
export function pick<const S extends string>(...lines: S[]): Pick<typeof all, Words<S> & Name> {
  const names = lines.join(' ').split(' ') as Name[];
  return Object.fromEntries(names.map((name) => [name, all[name]])) as Pick<typeof all, Words<S> & Name>;
}

const command = 'cmd cwd stdin runas group shell python_shell env clean_env template';
const output = 'output_encoding output_loglevel log_callback';
const rest = 'success_retcodes success_stdout success_stderr kwargs';

export const runParams = pick(
  command,
  'rstrip umask',
  output,
  'hide_output timeout reset_system_locale ignore_retcode saltenv use_vt redirect_stderr bg password encoded_cmd raise_err prepend_path',
  rest,
);
export const runAllParams = {
  ...pick(
    command,
    'rstrip umask',
    output,
    'hide_output timeout reset_system_locale ignore_retcode saltenv use_vt redirect_stderr password encoded_cmd prepend_path',
    rest,
  ),
  redirect_stderr: p.bool({ default: false, doc: 'merge error output into the output' }),
};
export const streamParams = pick(
  command,
  'rstrip umask',
  output,
  'hide_output timeout reset_system_locale ignore_retcode saltenv use_vt password prepend_path',
  rest,
);
export const retcodeParams = pick(
  command,
  'umask',
  output,
  'timeout reset_system_locale ignore_retcode saltenv use_vt password',
  rest,
);
export const shellParams = pick(
  'cmd cwd stdin runas group shell env clean_env template rstrip umask',
  output,
  'hide_output timeout reset_system_locale ignore_retcode saltenv use_vt bg password prepend_path',
  rest,
);
export const backgroundParams = pick(
  'cmd cwd runas group shell python_shell env clean_env template umask timeout',
  output,
  'reset_system_locale ignore_retcode saltenv password prepend_path',
  rest,
);
const scriptStart = {
  source: p.string({ doc: 'the script: a path on the minion, or an address such as salt://scripts/runme.sh' }),
  args: p.oneOf(['list', 'string'], { default: null, doc: 'arguments for the script, as one line or a list' }),
};
export const scriptParams = {
  ...scriptStart,
  ...pick(
    'cwd stdin runas group shell python_shell env template umask',
    output,
    'hide_output timeout reset_system_locale saltenv use_vt bg password',
    rest,
  ),
};
export const scriptRetcodeParams = {
  ...scriptStart,
  ...pick(
    'cwd stdin runas group shell python_shell env template umask timeout reset_system_locale saltenv',
    output,
    'use_vt password',
    rest,
  ),
  template: p.string({ default: 'jinja', nullable: true, doc: 'engine that renders the script first; None for none' }),
};
export const codeParams = {
  lang: p.string({ doc: 'the interpreter' }),
  code: p.string({ doc: 'the source text' }),
  cwd: p.string({ default: null, doc: 'folder to run in' }),
  args: p.oneOf(['list', 'string'], { default: null, doc: 'one argument, or a list' }),
  kwargs: p.kwargs({ doc: 'any other option of cmd.run_all' }),
};
export const chrootParams = {
  root: p.path({ doc: 'folder that becomes /' }),
  ...pick('cmd cwd stdin runas group shell'),
  python_shell: p.truthy({ default: true }),
  binds: p.list({ default: null, doc: 'folders to make visible inside' }),
  ...pick('env clean_env template rstrip umask output_encoding'),
  output_loglevel: p.string({ default: 'quiet' }),
  ...pick('log_callback hide_output timeout reset_system_locale ignore_retcode saltenv use_vt bg', rest),
};
