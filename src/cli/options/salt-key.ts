// Options of `salt-key`.
import type { CommandSpec, OptionGroup, OptionSpec } from '../optparse.ts';
import {
  authGroup,
  basicOptions,
  epilogOf,
  hardCrashOption,
  loggingGroup,
  outputGroup,
  switchOption,
  userOption,
} from './shared.ts';

const named = (flags: string[], dest: string, help: string): OptionSpec => ({ flags, dest, default: '', help });

const actions: OptionGroup = {
  title: 'Actions',
  options: [
    {
      ...named(
        ['-l', '--list'],
        'list',
        "List keys: 'un', 'pre' or 'unaccepted'; 'acc' or 'accepted'; 'rej' or 'rejected'; 'den' or 'denied'; or 'all'.",
      ),
      metavar: 'ARG',
    },
    switchOption(['-L', '--list-all'], 'list_all', 'List all keys; the same as "--list all".'),
    named(
      ['-a', '--accept'],
      'accept',
      'Accept the pending key with this id or glob; --include-rejected and --include-denied extend the selection.',
    ),
    switchOption(['-A', '--accept-all'], 'accept_all', 'Accept all pending keys.'),
    named(
      ['-r', '--reject'],
      'reject',
      'Reject the pending key with this id or glob; --include-accepted and --include-denied extend the selection.',
    ),
    switchOption(['-R', '--reject-all'], 'reject_all', 'Reject all pending keys.'),
    switchOption(
      ['--include-all'],
      'include_all',
      'The same as --include-rejected when accepting, --include-accepted when rejecting.',
    ),
    switchOption(['--include-accepted'], 'include_accepted', 'Also reject accepted keys.'),
    switchOption(['--include-rejected'], 'include_rejected', 'Also accept rejected keys.'),
    switchOption(['--include-denied'], 'include_denied', 'Also accept or reject denied keys.'),
    named(['-p', '--print'], 'print', 'Print the public key with this id or glob.'),
    switchOption(['-P', '--print-all'], 'print_all', 'Print all public keys.'),
    named(['-d', '--delete'], 'delete', 'Delete the key with this id or glob.'),
    switchOption(['-D', '--delete-all'], 'delete_all', 'Delete all keys.'),
    named(['-f', '--finger'], 'finger', 'Print the fingerprint of the key with this id or glob.'),
    switchOption(['-F', '--finger-all'], 'finger_all', 'Print all fingerprints.'),
  ],
};

const generation: OptionGroup = {
  title: 'Key Generation Options',
  options: [
    named(['--gen-keys'], 'gen_keys', 'Create a key pair with this name.'),
    {
      flags: ['--gen-keys-dir'],
      dest: 'gen_keys_dir',
      default: '.',
      help: "Folder for that pair. Default: '%default'.",
    },
    {
      flags: ['--keysize'],
      dest: 'keysize',
      type: 'int',
      default: 2048,
      help: 'Size of new keys in bits, 2048 to 32768. Default: %default.',
    },
    switchOption(
      ['--gen-signature'],
      'gen_signature',
      "Sign the master's public key, so that minions can verify it (file master_pubkey_signature). " +
        'Needs a signing key pair; --auto-create creates one.',
    ),
    named(['--priv'], 'priv', 'Private key to sign with.'),
    named(['--signature-path'], 'signature_path', 'Folder for the signature file.'),
    named(['--pub'], 'pub', 'Public key to be signed.'),
    switchOption(['--auto-create'], 'auto_create', 'Create the signing key pair when there is none.'),
  ],
};

export const saltKeySpec = (): CommandSpec => ({
  prog: 'salt-key',
  usage: '%prog [options]',
  description: 'Shows and manages the keys with which minions and masters authenticate each other.',
  epilog: epilogOf('salt-key'),
  options: [
    ...basicOptions(),
    userOption('salt-key'),
    hardCrashOption(),
    switchOption(['-q', '--quiet'], 'quiet', 'Print nothing.'),
    switchOption(['-y', '--yes'], 'yes', 'Answer every question with yes. Default: %default.'),
    {
      flags: ['--rotate-aes-key'],
      dest: 'rotate_aes_key',
      default: true,
      help: 'False: keep the session key when keys are deleted or rejected, which is less secure. Default: %default.',
    },
    {
      flags: ['--preserve-minions'],
      dest: 'preserve_minions',
      default: false,
      help: 'True: keep cached data of minions whose keys are deleted. Default: %default.',
    },
  ],
  groups: [
    authGroup(false),
    outputGroup('salt-key'),
    actions,
    generation,
    loggingGroup({ logFile: '/var/log/salt/key', flags: ['--log-level'], fileDest: 'key_logfile' }),
  ],
});
