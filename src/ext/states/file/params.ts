// Parameters that many functions of `file` share.
import { p } from 'halite/sdk';

export const name = p.path({ doc: 'the file or folder' });
export const user = p.any({ default: null, doc: 'owner: a name or number' });
export const group = p.any({ default: null, doc: 'group: a name or number' });
export const mode = p.any({ default: null, doc: 'permission bits; quote them so that YAML does not read a number' });
export const makedirs = p.bool({ default: false, doc: 'make missing folders above' });
export const backup = p.any({ default: '', doc: '`minion` keeps a copy of the old file in the minion cache' });
export const showChanges = p.bool({ default: true, doc: 'show what changed as a difference' });
export const context = p.any({ default: null, doc: 'variables for the template' });
export const defaults = p.any({ default: null, doc: 'variables for the template, below `context`' });
export const template = p.any({ default: null, doc: 'engine the source is rendered with: `jinja`' });
export const sourceHash = p.any({
  default: '',
  doc: 'hash the source must have: digits, `type=digits` or a file of sums',
});
export const sourceHashName = p.any({ default: null, doc: 'name to look for in a file of sums' });
export const skipVerify = p.bool({ default: false, doc: 'take a remote source without knowing its hash' });
export const useEtag = p.bool({ default: false, doc: 'let the web server say whether the file changed' });
export const verifySsl = p.any({ default: true, doc: 'check certificates of web servers' });
export const kwargs = p.kwargs({ doc: 'further variables for the template' });

const windows = 'Windows only; accepted and not used here';
/** Arguments that only mean something on Windows. */
export const windowsParams = {
  win_owner: p.any({ default: null, doc: windows }),
  win_perms: p.any({ default: null, doc: windows }),
  win_deny_perms: p.any({ default: null, doc: windows }),
  win_inheritance: p.any({ default: true, doc: windows }),
  win_perms_reset: p.any({ default: false, doc: windows }),
};

/** Text that comes from one or several templates, for functions that add to files. */
export const textSources = {
  source: p.any({ default: null, doc: 'a template to take the text from' }),
  source_hash: p.any({ default: null, doc: 'its hash, when it comes from the web' }),
  template: p.any({ default: 'jinja', doc: 'engine the source is rendered with' }),
  sources: p.any({ default: null, doc: 'several templates' }),
  source_hashes: p.any({ default: null, doc: 'their hashes, in the same order' }),
  defaults,
  context,
};
