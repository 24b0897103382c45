// Where a passphrase comes from: never the command line.
import { p } from 'halite/sdk';

export const secret = {
  passphrase_file: p.string({
    default: '',
    doc: 'a file whose first line is the passphrase; without it the terminal asks',
  }),
  passphrase_fd: p.int({ default: null, doc: 'a file descriptor with the passphrase' }),
};
