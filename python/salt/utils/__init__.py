"""`salt.utils`: modules are imported on first use; names of the old flat module lead to where they moved."""
from .._lazy import lazy

_HOMES = {
    "files": "fopen flopen fpopen mkstemp safe_rm rm_rf is_empty is_binary set_umask safe_walk normalize_mode "
             "human_size_to_bytes backup_minion is_fcntl_available recursive_copy copyfile rename remove process_read_exception",
    "path": "which which_bin path_join:join check_or_die",
    "platform": "is_windows is_linux is_darwin is_sunos is_smartos is_smartos_zone is_freebsd is_netbsd is_openbsd is_aix "
                "is_proxy is_fedora is_smartos_globalzone",
    "args": "clean_kwargs get_function_argspec arg_lookup argspec_report invalid_kwargs format_call split_input parse_function "
            "shlex_split",
    "data": "traverse_dict traverse_dict_and_list is_dict_subset:subdict_match subdict_match simple_types_filter "
            "repack_dictlist is_list is_iter is_true mysql_to_dict compare_dicts compare_lists decode_list decode_dict "
            "filter_by substr_in_list exactly_n exactly_one",
    "stringutils": "to_str to_bytes to_unicode to_num to_none is_quoted dequote contains_whitespace human_to_bytes "
                   "expr_match check_whitelist_blacklist build_whitespace_split_regex is_hex random str_to_num:to_num "
                   "is_bin_str:is_binary print_cli get_context camel_to_snake_case",
    "hashutils": "get_hash md5_digest sha256_digest sha512_digest hmac_signature",
    "decorators": "memoize",
    "versions": "warn_until kwargs_warn_until compare_versions:compare version_cmp warn_until_date",
    "state": "check_result:check_result check_state_result:check_result gen_tag:gen_tag",
    "functools": "namespaced_function alias_function",
    "jid": "gen_jid is_jid jid_to_time jid_dir format_jid_instance",
    "user": "get_user get_uid get_group_list get_group_dict get_gid_list get_specific_user chugid",
    "dateutils": "date_cast date_format total_seconds",
    "yaml": "yaml_load:safe_load",
    "dictupdate": "option_merge:merge",
    "json": "json_load:loads",
}
MOVED = {}
for _module, _names in _HOMES.items():
    for _entry in _names.split():
        _old, _, _new = _entry.partition(":")
        MOVED[_old] = "salt.utils.{}:{}".format(_module, _new or _old)
MOVED["is_true"] = "salt.utils.data:is_true"

lazy(__name__)
