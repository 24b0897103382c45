// What is made of the words of ssh and sudo on targets.
import { describe, expect, it } from 'vitest';
import { placeFailure, sshFailure, startFailure } from './reasons.ts';

const nothing = { hostKey: '', passphrase: false, password: false };

describe('why a target did not run its job', () => {
  it.each([
    ['sudo: sorry, you must have a tty to run sudo\n', 'ssh-refused'],
    ['sudo: unable to resolve host x\nsudo: sorry, you must have a tty to run sudo\n', 'ssh-refused'],
    ['op is not in the sudoers file.\n', 'ssh-refused'],
    ['Sorry, user op is not allowed to execute /bin/sh as root on x.\n', 'ssh-refused'],
    ['sudo: a password is required\n', 'ssh-refused'],
    ['sh: sudo: not found\n', 'ssh-refused'],
    ['something else\n', 'ssh-lost'],
  ])('%j', (said, code) => {
    expect(sshFailure(1, said, nothing).code).toBe(code);
  });

  it('does not take the word of a target for more than one of ours', () => {
    expect(placeFailure('/x', 'noexec').stderr).toContain('noexec');
    for (const word of ['constructor', '__proto__', 'toString', ''])
      expect(placeFailure('/x', word).stderr).toBe('The folder /x cannot be used');
  });

  it('names the library that is missing', () => {
    const glibc =
      'node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file';
    expect(startFailure(127, glibc).stderr).toContain('the library libatomic.so.1,');
    expect(startFailure(139, 'Segmentation fault').stderr).toContain('(status 139): Segmentation fault');
  });
});
