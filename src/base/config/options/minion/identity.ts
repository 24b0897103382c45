// Option table of the minion: minion identity and grains.
import type { OptionRow } from '../row.ts';

export const minionIdentity = [
{ name: 'id_function', type: ['dict', 'str'], default: {}, doc: 'Module function that computes the id.' },
{ name: 'minion_id_caching', type: 'bool', default: true, since: '0.17.2', doc: 'Keep the detected id in the file `minion_id`.' },
{ name: 'minion_id_lowercase', type: 'bool', default: false, doc: 'Make the detected id lower case.' },
{ name: 'minion_id_remove_domain', type: ['str', 'bool'], default: false, since: '3000', doc: 'Cut the domain off the detected id: true for any domain, or one domain.' },
{ name: 'append_minionid_config_dirs', type: 'strs', default: [], doc: 'Path options to which the id is appended: pki_dir, cachedir, extension_modules, pidfile, default_include.' },
{ name: 'grains', type: 'dict', default: {}, doc: 'Grains set by hand.' },
{ name: 'grains_blacklist', type: 'strs', default: [], since: '3000', doc: 'Patterns of grains that are not kept.' },
{ name: 'grains_cache', type: 'bool', default: false, doc: 'Keep collected grains on disk.' },
{ name: 'grains_cache_expiration', type: 'duration', default: 300, doc: 'Seconds kept grains are used.' },
{ name: 'grains_deep_merge', type: 'bool', default: false, since: '2016.3.0', doc: 'Merge dictionaries of custom grains into built-in ones.' },
{ name: 'grains_dirs', type: 'strs', default: [], doc: 'Extra folders to load grain modules from.' },
{ name: 'grains_refresh_every', type: 'int', default: 0, doc: 'Minutes between refreshes of the grains; 0 turns them off.' },
{ name: 'grains_refresh_pre_exec', type: 'bool', assumed: false, since: '3005', doc: 'Refresh grains before every command.' },
{ name: 'start_event_grains', type: 'strs', default: [], doc: 'Grains sent with the start event.' },
{ name: 'enable_fqdns_grains', type: 'bool', default: false, doc: 'Resolve the names of all addresses for the `fqdns` grain.' },
{ name: 'enable_lspci', type: 'bool', assumed: true, doc: 'Use lspci to find graphics cards.' },
{ name: 'enable_legacy_startup_events', type: 'bool', default: true, since: '2019.2.0', doc: 'Send the start event under its old name as well.' },
{ name: 'metadata_server_grains', type: 'bool', assumed: false, since: '2017.7.0', doc: 'Collect grains from a cloud metadata service.' },
{ name: 'fibre_channel_grains', type: 'bool', assumed: false, doc: 'Collect Fibre Channel names.' },
{ name: 'iscsi_grains', type: 'bool', assumed: false, doc: 'Collect iSCSI names.' },
{ name: 'nvme_grains', type: 'bool', assumed: false, doc: 'Collect NVMe names.' },
{ name: 'minion_pillar_cache', type: 'bool', assumed: false, since: '2016.3.0', doc: 'Keep the pillar on disk for use by salt-call without a master.' },
{ name: 'resource_pillar_key', type: 'str', default: 'resources', since: '3008.0', doc: 'Pillar key that holds the resources managed through this minion.' },
] as const satisfies readonly OptionRow[];
