// Functions of `file` for extended attributes, SELinux contexts, patches and differences.

import { commandError, fn, invocationError, newDict, p, pyStr, type Value } from 'halite/sdk';
import { isDirectory, osReason, pathExists, readFileSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { keepLines, lines, shellSplit, unifiedDiff, words } from 'halite/sdk/text';
import { isText } from '../../shared/file/rewrite.ts';

const path = p.path();

function binaryNote(a: string, b: string): string {
  const [left, right] = [isText(a), isText(b)];
  if (left && right) return '';
  if (!left && !right) return 'Replace binary file';
  return left ? 'Replace text file with binary file' : 'Replace binary file with text file';
}

export const attributeFunctions = {
  lsattr: fn({
    doc: 'The attributes (chattr) of a file; None where lsattr is not installed.',
    examples: ["salt '*' file.lsattr foo1.txt"],
    params: { path },
    async run(args, ctx) {
      const program = which('lsattr');
      if (!program) return null;
      if (!pathExists(args.path)) throw invocationError(`File or directory does not exist: ${args.path}`);
      const { stdout } = await ctx.exec(program, [args.path], { mergeStderr: true });
      const found = newDict();
      for (const line of lines(stdout).filter((row) => !row.startsWith('lsattr: '))) {
        const [letters = ''] = words(line);
        found[line.slice(letters.length).trim()] = letters.match(/[aAcCdDeijPsStTu]/g) ?? [];
      }
      return found;
    },
  }),
  chattr: fn({
    doc: 'Adds or removes attributes of files.',
    examples: ["salt '*' file.chattr foo1.txt foo2.txt operator=add attributes=ai"],
    params: { files: p.rest(), kwargs: p.kwargs({ doc: 'operator (add, remove), attributes, flags, version' }) },
    async run({ files, kwargs }, ctx) {
      const operator = kwargs['operator'];
      if (operator !== 'add' && operator !== 'remove') {
        throw invocationError("Need an operator: 'add' or 'remove' to modify attributes.");
      }
      if (kwargs['attributes'] === undefined || kwargs['attributes'] === null) {
        throw invocationError('Need attributes: [aAcCdDeijPsStTu]');
      }
      const sign = operator === 'add' ? '+' : '-';
      const flags = kwargs['flags'] ? [`-${pyStr(kwargs['flags'])}`] : [];
      const version = kwargs['version'] ? ['-v', pyStr(kwargs['version'])] : [];
      const words = [`${sign}${pyStr(kwargs['attributes'])}`, ...flags, ...version, ...files.map(pyStr)];
      const { stdout, retcode } = await ctx.exec('chattr', words, { mergeStderr: true });
      ctx.setRetcode(retcode);
      return stdout.trim() === '';
    },
  }),
  get_selinux_context: fn({
    doc: 'The SELinux context of a file.',
    examples: ["salt '*' file.get_selinux_context /etc/hosts"],
    params: { path },
    async run(args, ctx) {
      const { retcode, stdout } = await ctx.exec('stat', ['-c', '%C', '--', args.path]);
      ctx.setRetcode(retcode);
      return retcode === 0 ? stdout.trim() : `No selinux context information is available for ${args.path}`;
    },
  }),
  set_selinux_context: fn({
    doc: 'Sets parts of the SELinux context of a file.',
    examples: ["salt '*' file.set_selinux_context path <user> <role> <type> <range>"],
    params: {
      path,
      user: p.string({ default: null }),
      role: p.string({ default: null }),
      type: p.string({ default: null }),
      range: p.string({ default: null }),
      persist: p.bool({ default: false, doc: 'also in the policy' }),
    },
    async run(args, ctx): Promise<Value> {
      const parts: [string, string | null][] = [
        ['-u', args.user],
        ['-r', args.role],
        ['-t', args.type],
        ['-l', args.range],
      ];
      const options = parts.flatMap(([option, value]) => (value ? [option, value] : []));
      if (options.length === 0) return false;
      if (args.persist)
        await ctx.callWith(
          'selinux.fcontext_add_policy',
          [args.path],
          newDict([
            ['sel_type', args.type],
            ['sel_user', args.user],
            ['sel_level', args.range],
          ]),
        );
      const { retcode } = await ctx.exec('chcon', [...options, '--', args.path]);
      ctx.setRetcode(retcode);
      return retcode === 0 ? ctx.call('file.get_selinux_context', args.path) : false;
    },
  }),
  restorecon: fn({
    doc: 'Resets the SELinux context of a file to the policy’s.',
    examples: ["salt '*' file.restorecon /home/user/.ssh/authorized_keys"],
    params: { path, recursive: p.bool({ default: false }) },
    run: async (args, ctx) => (await ctx.exec('restorecon', [args.recursive ? '-FR' : '-F', args.path])).retcode === 0,
  }),
  patch: fn({
    doc: 'Applies a patch to a file or folder and returns what cmd.run_all does.',
    examples: ["salt '*' file.patch /opt/file.txt /tmp/file.txt.patch"],
    params: {
      originalfile: p.path(),
      patchfile: p.path(),
      options: p.string({ default: '' }),
      dry_run: p.bool({ default: false }),
    },
    reads: ({ dry_run }) => dry_run,
    run(args, ctx) {
      const program = which('patch');
      if (!program) throw commandError("patch executable not found. Is the distribution's patch package installed?");
      const given = shellSplit(args.options);
      const command = [program, ...given];
      if (args.dry_run) command.push('--dry-run');
      if (!given.includes('-N') && !given.includes('--forward')) command.push('--forward');
      if (!given.some((option) => option === '-r' || option.startsWith('-r ') || option.startsWith('--reject-file'))) {
        command.push('--reject-file=-');
      }
      command.push('-i', args.patchfile);
      if (!isDirectory(args.originalfile)) command.push(args.originalfile);
      else {
        command.push('-d', args.originalfile);
        if (!given.some((option) => option.startsWith('-p') || option.startsWith('--strip=')))
          command.push('--strip=0');
      }
      return ctx.call('cmd.run_all', command);
    },
  }),
  get_diff: fn({
    doc: 'The difference of two files. Paths on the file server are fetched first.',
    examples: ["salt '*' file.get_diff /home/fred/.vimrc salt://users/fred/.vimrc"],
    params: {
      file1: p.path(),
      file2: p.path(),
      saltenv: p.string({ default: 'base' }),
      show_filenames: p.bool({ default: true }),
      show_changes: p.bool({ default: true }),
      template: p.bool({ default: false, doc: 'ignore trailing white space' }),
      source_hash_file1: p.string({ default: null }),
      source_hash_file2: p.string({ default: null }),
    },
    async run(args, ctx) {
      const missing: string[] = [];
      const local = async (file: string): Promise<string> => {
        if (!/^[a-z0-9]+:\/\//i.test(file)) return file;
        const cached = await ctx.call('cp.cache_file', file, args.saltenv);
        if (typeof cached === 'string') return cached;
        missing.push(`\n- File ${file} not found`);
        return '';
      };
      const [a, b] = [await local(args.file1), await local(args.file2)];
      if (missing.length > 0)
        throw commandError(`Failed to cache one or more files. Additional info follows:\n${missing.join('')}`);
      const read = (file: string): string => {
        try {
          return readFileSync(file, 'utf8');
        } catch (error) {
          throw commandError(`Failed to read ${file}: ${osReason(error)}`);
        }
      };
      const [left, right] = [read(a), read(b)];
      if (left === right) return '';
      if (!args.show_changes) return '<show_changes=False>';
      const note = binaryNote(a, b);
      if (note) return note;
      return unifiedDiff(
        keepLines(left),
        keepLines(right),
        args.show_filenames ? { from: args.file1, to: args.file2 } : {},
      );
    },
  }),
};
