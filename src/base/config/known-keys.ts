// Top-level keys that modules, returners, engines and commands of Salt read although they are no daemon options.

/** Keys with a dot (`mysql.host`) always belong to a module and need no entry. */
export const moduleKeys: ReadonlySet<string> = new Set(
  `ansible_timeout api_acl aptpkg_refresh_db_timeout asam auth_keytab auth_principal auth_trb azurefs azurefs_envs
  azurefs_container_name azurefs_account_name bamboohr batch batch_wait beacons beacons_dirs engines_dirs executor_dirs
  serializers_dirs ca_bundle ca_bundle_url cassandra
  cluster_election_max cluster_election_min cluster_join_timeout config_dir configure_console_logger
  configure_ext_handlers configure_file_logger configure_granular_levels consul consul_config cloud
  delegated_functions delegated_modules add_delegated_functions add_delegated_modules diff_cache_events digicert
  disable_keepalive dns docker docker-registries drac driver eauth enable_cloud_grains
  etcd etcd_config executor_opts ext_processes extra_filerefs fileserver_events fileserver_ftp_timeout filter_events
  fluent_handler force_color formula_path gpg_keydir gpg_homedir grafana halite halite_api hard_timeout inventory_base_uri jenkins
  k8s keystone kubernetes kubernetes-kubeconfig ldap libcloud_compute libcloud_dns libcloud_loadbalancer
  libcloud_storage local_masters log_dir log_fmt log_datefmt_console logstash_udp_handler logstash_zmq_handler lxc
  master_list master_uri master_uri_list metaproxy mine_functions minion_id mktoken module_executors multimaster mysql
  mysql_auth my_sdb napalm napalm_inventory neutron netbox netmiko no_color no_parse nxos nxos_api obfuscate_templates
  output_indent pagerduty parallel_deploys pepa_delimiter pepa_grains pepa_pillar pepa_roots pepa_validate pillar
  pillar_path postgres preserve_minions profiles profiling_enabled profiling_path provider proxy proxyid proxymodule
  pyeapi rallydev random_org reactor_path rest_cherrypy rest_tornado rest_wsgi ret retcode_passthrough roster_dir
  roster_domain roster_order runner_queue runners saltcheck_parallel schedule_returner saltcheck_processes sdb secrets sentry_handler sharedsecret
  slack spacewalk splay splaytime splunk splunk_http_forwarder spm_build_dir spm_build_exclude spm_cache_dir
  spm_db spm_db_provider spm_files_provider spm_node_type spm_repo_dups spm_repos_config spm_share_dir sqlcipher sqlite3
  ssh_agent ssh_ext_alternatives ssh_known_hosts_file ssh_max_procs ssh_options ssh_signing_policies ssh_update_roster
  ssh_username ssh_wipe state_output_exclude state_output_terse state_tabular static statuspage stateconf_end_marker
  stateconf_goal_state stateconf_start_state stateconf_state_func subproxy syndic_dir syndic_sock_dir
  telegram textfsm_index_file textfsm_path textfsm_platform_grain thin_so_mods thorium_recompile
  timestamp_prefix token token_dir token_file update_cachedir use_yamlloader_old username vault venafi venv_bin verbose
  virt vistara x509_signing_policies yubico_users yum_provider zenoss zmq_heartbeat_ivl zmq_heartbeat_timeout`.split(
    /\s+/,
  ),
);
