// Puts minions on machines that have none; the work is done by the command, in src/cli/bootstrap.
import { defineRunner, HaliteError, masterFn, p } from 'halite/sdk';

export default defineRunner({
  name: 'bootstrap',
  doc: 'Put minions on machines over ssh.',
  functions: {
    minion: masterFn({
      doc: 'Installs a minion on a host over ssh, with the key of this master pinned, and accepts its key when it is the one that was seen over ssh. Runs in the command `salt-run`, with the rights of its user.',
      examples: [
        'salt-run bootstrap.minion web1 --dry-run',
        'salt-run bootstrap.minion web1 packages=/srv/halite/packages',
        'salt-run bootstrap.minion 192.0.2.7 id=web1 user=admin sudo=True',
      ],
      params: {
        host: p.string({ doc: 'the host, as for ssh' }),
        id: p.string({ default: '', doc: 'the id of the minion; default: the name of the host' }),
        packages: p.string({
          default: '/srv/halite/packages',
          doc: 'a folder with the packages of `npm run package` and their SHA256SUMS',
        }),
        version: p.string({ default: '', doc: 'of the packages, when there are several; default: the newest' }),
        master: p.string({
          default: '',
          doc: 'the address of this master for the minion; default: where its ssh connection comes from',
        }),
        user: p.string({ default: '', doc: 'the user there; default: `ssh_user`' }),
        port: p.int({ default: null, doc: 'the port of ssh there; default: `ssh_port`' }),
        priv: p.string({ default: '', doc: 'the private key for ssh; default: `ssh_priv`, as for salt-ssh' }),
        sudo: p.bool({ default: false, doc: 'become root there with `sudo -n`' }),
        ssh: p.string({ default: '', doc: 'a configuration file of ssh, as for `ssh -F`' }),
        ignore_host_keys: p.bool({ default: false, doc: 'trust a host key that is not known yet' }),
        accept: p.bool({ default: true, doc: 'accept the key of the minion' }),
        dry_run: p.bool({ default: false, doc: 'only show what would be done there; `--dry-run` is the same' }),
      },
      async run() {
        throw new HaliteError('call.failed', 'bootstrap.minion runs only in a command', {
          hint: "On the master's machine: salt-run bootstrap.minion",
        });
      },
    }),
  },
});
