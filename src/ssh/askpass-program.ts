// The program that ssh runs to ask for a password: passes the question to salt-ssh, with who asks, and prints its answer.
import { connect } from 'node:net';

const path = process.env['HALITE_ASKPASS'];
if (!path) process.exit(1);
let told = '';
const socket = connect(path, () => socket.write(`${process.ppid} ${process.argv[2] ?? ''}\0`));
socket.setEncoding('utf8');
socket.on('data', (text: string) => {
  told += text;
});
socket.on('error', () => process.exit(1));
socket.on('close', () => {
  if (!told.startsWith('+')) process.exit(1);
  process.stdout.write(`${told.slice(1)}\n`, () => process.exit(0));
});
