// systemd: tells the service manager that a daemon of Type=notify is ready.
import { spawn } from 'node:child_process';

export function notifyReady(): void {
  if (!process.env['NOTIFY_SOCKET']) return;
  // Node has no datagram sockets of the unix family; the tool that comes with systemd does it.
  const child = spawn('systemd-notify', ['--ready', `--pid=${process.pid}`], { stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}
