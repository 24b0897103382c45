// What a client says about itself, for the audit.
import type { IncomingHttpHeaders } from 'node:http';

export const agentOf = (headers: IncomingHttpHeaders): string => (headers['user-agent'] ?? '').slice(0, 256);
