// Functions of `file` for owners, groups and modes.

import { fn, p, type Value } from 'halite/sdk';
import { expandUser } from 'halite/sdk/fs';
import { groupById, userById } from 'halite/sdk/system';
import { changeMode, changeOwner, gidOf, uidOf } from '../../shared/file/owner.ts';
import { fileStats } from '../../shared/file/stats.ts';

const path = p.path();
const follow = p.bool({ default: true, doc: 'follow links' });
const fact = (doc: string, name: string, key: string, fallback: Value) =>
  fn({
    doc,
    examples: [`salt '*' file.${name} /etc/passwd`],
    params: { path, follow_symlinks: follow },
    run: (args) => fileStats(expandUser(args.path), args.follow_symlinks)[key] ?? fallback,
  });

export const ownershipFunctions = {
  get_uid: fact('The id of the user that owns a file.', 'get_uid', 'uid', -1),
  get_gid: fact('The id of the group that owns a file.', 'get_gid', 'gid', -1),
  get_user: fact('The user that owns a file.', 'get_user', 'user', false),
  get_group: fact('The group that owns a file.', 'get_group', 'group', false),
  get_mode: fact('The permission bits of a file, four octal digits.', 'get_mode', 'mode', ''),
  set_mode: fn({
    doc: 'Sets the permission bits of a file.',
    examples: ["salt '*' file.set_mode /etc/passwd 0644"],
    params: { path, mode: p.string() },
    run: (args) => changeMode(expandUser(args.path), args.mode),
  }),
  chown: fn({
    doc: 'Changes the owner and group of a file; a link is followed.',
    examples: ["salt '*' file.chown /etc/passwd root root"],
    params: {
      path,
      user: p.oneOf(['int', 'string'], { nullable: true }),
      group: p.oneOf(['int', 'string'], { nullable: true }),
    },
    run: (args) => changeOwner(expandUser(args.path), args.user, args.group),
  }),
  lchown: fn({
    doc: 'Changes the owner and group of a file; for a link, of the link itself.',
    examples: ["salt '*' file.lchown /path/to/link root root"],
    params: {
      path,
      user: p.oneOf(['int', 'string'], { nullable: true }),
      group: p.oneOf(['int', 'string'], { nullable: true }),
    },
    run: (args) => changeOwner(expandUser(args.path), args.user, args.group, true),
  }),
  chgrp: fn({
    doc: 'Changes the group of a file.',
    examples: ["salt '*' file.chgrp /etc/passwd root"],
    params: { path, group: p.oneOf(['int', 'string'], { nullable: true }) },
    run(args) {
      const target = expandUser(args.path);
      return changeOwner(target, fileStats(target, true)['uid'] ?? null, args.group);
    },
  }),
  uid_to_user: fn({
    doc: 'The name of a user id; the id itself when there is none.',
    examples: ["salt '*' file.uid_to_user 0"],
    params: { uid: p.oneOf(['int', 'string'], { nullable: true }) },
    run: ({ uid }) => (typeof uid === 'number' ? (userById(uid)?.name ?? uid) : uid),
  }),
  user_to_uid: fn({
    doc: 'The id of a user; empty text when there is none of that name.',
    examples: ["salt '*' file.user_to_uid root"],
    params: { user: p.oneOf(['int', 'string'], { nullable: true }) },
    run: ({ user }) => uidOf(user),
  }),
  gid_to_group: fn({
    doc: 'The name of a group id; the id itself when there is none.',
    examples: ["salt '*' file.gid_to_group 0"],
    params: { gid: p.oneOf(['int', 'string'], { nullable: true }) },
    run({ gid }) {
      const id = typeof gid === 'string' && /^\d+$/.test(gid) ? Number(gid) : gidOf(gid);
      return id === '' ? '' : (groupById(id)?.name ?? id);
    },
  }),
  group_to_gid: fn({
    doc: 'The id of a group; empty text when there is none of that name.',
    examples: ["salt '*' file.group_to_gid root"],
    params: { group: p.oneOf(['int', 'string'], { nullable: true }) },
    run: ({ group }) => gidOf(group),
  }),
};
