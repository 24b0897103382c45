// The options that should be equal on all members: those that decide who may do what, or what minions get. Addresses,
// ports, paths, sizes and logs may differ.
const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');

export const equalOptions: readonly string[] = [
  // Who is trusted.
  ...words('allow_minion_key_revoke auto_accept autosign_grains_dir autosign_timeout max_minions minimum_auth_version'),
  ...words('master_sign_pubkey open_mode publish_session publish_signing_algorithm request_server_ttl rotate_aes_key'),
  ...words('sign_pub_messages transport'),
  // Who may do what.
  ...words('client_acl_verify eauth_acl_module external_auth keep_acl_in_token peer peer_run publisher_acl'),
  ...words('publisher_acl_blacklist sudo_acl token_expire token_expire_user_override'),
  // What runs, and where results go.
  ...words('event_return keep_jobs_seconds master_job_cache nodegroups order_masters reactor schedule'),
  // What is served.
  ...words('default_top env_order fileserver_backend fileserver_followsymlinks file_ignore_glob file_ignore_regex'),
  ...words('gitfs_base gitfs_remotes gitfs_root gitfs_saltenv hash_type master_tops saltenv state_top'),
  ...words('state_top_saltenv top_file_merging_strategy'),
  ...words('decrypt_pillar ext_pillar ext_pillar_first git_pillar_base git_pillar_root pillar_merge_lists pillar_opts'),
  ...words('pillar_raise_on_missing pillar_safe_render_error pillar_source_merging_strategy pillarenv'),
];
