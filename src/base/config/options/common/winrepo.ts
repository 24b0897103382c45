// Option table shared by master and minion: windows software repository.
import type { OptionRow } from '../row.ts';

export const commonWinrepo = [
  {
    name: 'winrepo_dir',
    type: 'path',
    default: '/srv/salt/win/repo',
    doc: 'Folder of package definitions for old minions.',
  },
  {
    name: 'winrepo_dir_ng',
    type: 'path',
    default: '/srv/salt/win/repo-ng',
    since: '2015.8.0',
    doc: 'Folder of package definitions.',
  },
  { name: 'winrepo_cachefile', type: 'str', default: 'winrepo.p', doc: 'Name of the compiled package database.' },
  {
    name: 'winrepo_remotes',
    type: 'list',
    default: ['https://github.com/saltstack/salt-winrepo.git'],
    doc: 'Git repositories with package definitions for old minions.',
  },
  {
    name: 'winrepo_remotes_ng',
    type: 'list',
    default: ['https://github.com/saltstack/salt-winrepo-ng.git'],
    since: '2015.8.0',
    doc: 'Git repositories with package definitions.',
  },
  { name: 'winrepo_branch', type: 'str', default: 'master', since: '2015.8.0', doc: 'Branch read from the remotes.' },
  { name: 'winrepo_fallback', type: 'str', default: '', doc: 'Branch read when the wanted one does not exist.' },
  {
    name: 'winrepo_ssl_verify',
    type: 'bool',
    default: true,
    since: '2015.8.0',
    doc: 'Check certificates of HTTPS remotes.',
  },
  { name: 'winrepo_user', type: 'str', default: '', since: '2015.8.0', doc: 'User name for HTTPS remotes.' },
  { name: 'winrepo_password', type: 'str', default: '', since: '2015.8.0', doc: 'Password for HTTPS remotes.' },
  {
    name: 'winrepo_insecure_auth',
    type: 'bool',
    default: false,
    since: '2015.8.0',
    doc: 'Allow passwords over plain HTTP.',
  },
  { name: 'winrepo_privkey', type: 'path', default: '', since: '2015.8.0', doc: 'Private key file for SSH remotes.' },
  { name: 'winrepo_pubkey', type: 'path', default: '', since: '2015.8.0', doc: 'Public key file for SSH remotes.' },
  { name: 'winrepo_passphrase', type: 'str', default: '', since: '2015.8.0', doc: 'Passphrase of the private key.' },
  {
    name: 'winrepo_refspecs',
    type: 'strs',
    default: ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'],
    since: '2017.7.0',
    doc: 'What is fetched from the remotes.',
  },
  { name: 'winrepo_proxy', type: 'str', default: '', since: '3008.0', doc: 'Proxy used to reach the remotes.' },
  { name: 'winrepo_depth', type: 'int', default: 1, since: '3008.0', doc: 'How many commits of history are fetched.' },
  { name: 'win_repo', type: 'path', doc: 'Old name of `winrepo_dir`.' },
  { name: 'win_gitrepos', type: 'list', doc: 'Old name of `winrepo_remotes`.' },
] as const satisfies readonly OptionRow[];
