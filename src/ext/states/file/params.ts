// Parameters that many functions of `file` share.
import { p } from 'halite/sdk';

export const name = p.path({ doc: 'the file or folder' });
export const user = p.oneOf(['int', 'string'], { default: null, doc: 'owner: a name or number' });
export const group = p.oneOf(['int', 'string'], { default: null, doc: 'group: a name or number' });
export const mode = p.scalar({ default: null, doc: 'permission bits; quote them so that YAML does not read a number' });
export const makedirs = p.bool({ default: false, doc: 'create missing parent folders' });
export const backup = p.scalar({
  default: '',
  nullable: true,
  doc: '`minion` keeps a copy of the old file in the minion cache',
});
export const showChanges = p.bool({ default: true, doc: 'show what changed as a difference' });
export const context = p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'variables for the template' });
export const defaults = p.oneOf(['dict', 'list', 'string'], {
  default: null,
  doc: 'variables for the template, overridden by `context`',
});
export const template = p.scalar({ default: null, doc: 'engine the source is rendered with: `jinja`' });
export const sourceHash = p.scalar({
  default: '',
  nullable: true,
  doc: 'expected hash of the source: digits, `type=digits` or a hash file',
});
export const sourceHashName = p.scalar({ default: null, doc: 'name to search in a hash file' });
export const skipVerify = p.bool({ default: false, doc: 'accept a remote source without a hash' });
export const useEtag = p.bool({ default: false, doc: 'ask the web server whether the file changed' });
export const verifySsl = p.oneOf(['bool', 'string'], {
  default: true,
  nullable: true,
  doc: 'check certificates of web servers',
});
export const kwargs = p.kwargs({ doc: 'further variables for the template' });

const windows = 'Windows only; accepted and not used here';
/** Arguments that only mean something on Windows. */
export const windowsParams = {
  win_owner: p.ignored({ default: null, doc: windows }),
  win_perms: p.ignored({ default: null, doc: windows }),
  win_deny_perms: p.ignored({ default: null, doc: windows }),
  win_inheritance: p.ignored({ default: true, doc: windows }),
  win_perms_reset: p.ignored({ default: false, doc: windows }),
};

/** Text that comes from one or several templates, for functions that add to files. */
export const textSources = {
  source: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'a template for the text' }),
  source_hash: p.scalar({ default: null, doc: 'its hash, when it comes from the web' }),
  template: p.scalar({ default: 'jinja', nullable: true, doc: 'engine the source is rendered with' }),
  sources: p.oneOf(['list', 'string', 'dict'], { default: null, doc: 'several templates' }),
  source_hashes: p.oneOf(['list', 'string'], { default: null, doc: 'their hashes, in the same order' }),
  defaults,
  context,
};
