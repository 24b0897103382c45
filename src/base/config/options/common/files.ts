// Option table shared by master and minion: file server.
import type { OptionRow } from '../row.ts';

export const commonFiles = [
{ name: 'file_roots', type: 'roots', default: {base: ['/srv/salt', '/srv/spm/salt']}, doc: 'Folders served as `salt://`, by environment.' },
{ name: 'fileserver_backend', type: 'strs', default: ['roots'], doc: 'File server back ends, asked in this order.' },
{ name: 'fileserver_followsymlinks', type: 'bool', default: true, since: '2014.1.0', doc: 'Serve what symbolic links point to.' },
{ name: 'fileserver_ignoresymlinks', type: 'bool', default: false, since: '2014.1.0', doc: 'Pretend symbolic links do not exist.' },
{ name: 'file_ignore_regex', type: 'strs', default: [], doc: 'Files whose path matches one of these regular expressions are not served.' },
{ name: 'file_ignore_glob', type: 'strs', default: [], doc: 'Files whose path matches one of these patterns are not served.' },
{ name: 'file_recv', type: 'bool', default: false, doc: 'Accept files pushed by minions with `cp.push`.' },
{ name: 'file_recv_max_size', type: 'int', default: 100, since: '2014.7.0', doc: 'Largest pushed file in megabytes.' },
{ name: 'hash_type', type: 'str', default: 'sha256', doc: 'Hash used to compare files.' },
{ name: 'state_top', type: 'str', default: 'top.sls', doc: 'Name of the top file.' },
{ name: 'state_top_saltenv', type: ['null', 'str'], default: null, doc: 'Use only the top file of this environment.' },
{ name: 'top_file_merging_strategy', type: 'str', default: 'merge', doc: 'How top files of several environments combine: merge, same or merge_all.' },
{ name: 'env_order', type: 'strs', default: [], doc: 'Order in which environments are merged.' },
{ name: 'default_top', type: 'str', default: 'base', doc: 'Environment whose top file stands in for a missing one with strategy `same`.' },
{ name: 'roots_update_interval', type: 'duration', default: 60, since: '2018.3.0', doc: 'Seconds between updates of the roots back end.' },
{ name: 's3fs_update_interval', type: 'duration', default: 60, since: '2018.3.0', doc: 'Seconds between updates of the S3 back end.' },
{ name: 'hgfs_update_interval', type: 'duration', default: 60, since: '2018.3.0', doc: 'Seconds between updates of the Mercurial back end.' },
{ name: 'svnfs_update_interval', type: 'duration', default: 60, since: '2018.3.0', doc: 'Seconds between updates of the Subversion back end.' },
{ name: 'minionfs_update_interval', type: 'duration', default: 60, since: '2018.3.0', doc: 'Seconds between updates of the pushed-files back end.' },
{ name: 'azurefs_update_interval', type: 'duration', default: 60, until: '3006', doc: 'Seconds between updates of the Azure back end; gone since Salt 3007.' },
] as const satisfies readonly OptionRow[];
