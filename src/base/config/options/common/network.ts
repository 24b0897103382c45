// Option table shared by master and minion: network and transport.
import type { OptionRow } from '../row.ts';

export const commonNetwork = [
{ name: 'interface', type: 'str', default: '0.0.0.0', doc: 'Address the daemon binds to.' },
{ name: 'ipv6', type: ['null', 'bool'], default: null, doc: 'Prefer IPv6 addresses: true, false, or unset to follow what the system offers.' },
{ name: 'transport', type: 'str', default: 'zeromq', doc: 'Transport between master and minions: zeromq, tcp or ws.' },
{ name: 'ipc_mode', type: 'str', default: 'ipc', doc: 'How local programs reach the daemon: unix sockets (ipc) or loopback TCP (tcp).' },
{ name: 'ipc_write_buffer', type: 'int', default: 0, doc: 'Bytes of unsent events kept per local subscriber before it is dropped; 0 means no limit, `dynamic` a share of memory.' },
{ name: 'tcp_keepalive', type: 'bool', default: true, doc: 'Use TCP keepalive probes on connections.' },
{ name: 'tcp_keepalive_idle', type: 'duration', default: 300, doc: 'Seconds of silence before the first keepalive probe; -1 means the system\'s value.' },
{ name: 'tcp_keepalive_cnt', type: 'float', default: -1, doc: 'Unanswered probes after which a connection is dead; -1 means the system\'s value.' },
{ name: 'tcp_keepalive_intvl', type: 'duration', default: -1, doc: 'Seconds between keepalive probes; -1 means the system\'s value.' },
{ name: 'zmq_filtering', type: 'bool', default: false, doc: 'Send jobs only to the minions they are meant for when the target allows it.' },
{ name: 'zmq_monitor', type: 'bool', default: false, doc: 'Log what happens on ZeroMQ sockets, for trouble shooting.' },
{ name: 'ssl', type: ['dict', 'bool', 'null'], default: null, since: '3006.9', doc: 'TLS settings for the tcp transport: key, certificate, authority.' },
{ name: 'disable_aes_with_tls', type: 'bool', default: false, since: '3008.0', doc: 'Skip the inner encryption when the connection is TLS with checked certificates.' },
{ name: 'use_os_truststore', type: 'bool', default: false, since: '3008.0', doc: 'Trust the certificate authorities of the operating system.' },
{ name: 'discovery', type: ['dict', 'bool'], default: false, doc: 'Let minions find masters on the local network.' },
{ name: 'master_sign_key_name', type: 'str', default: 'master_sign', since: '2014.7.0', doc: 'Base name of the key pair that signs the master\'s public key.' },
{ name: 'http_connect_timeout', type: 'duration', default: 20, since: '2019.2.0', doc: 'Seconds to wait for an HTTP connection.' },
{ name: 'http_request_timeout', type: 'duration', default: 3600, since: '2015.8.0', doc: 'Seconds to wait for a whole HTTP request.' },
{ name: 'http_max_body', type: 'int', default: 107374182400, doc: 'Largest HTTP answer in bytes that is read.' },
{ name: 'range_server', type: 'str', default: 'range:80', doc: 'Address of the range server for range targets.' },
{ name: 'cache_sreqs', type: 'bool', default: true, doc: 'Reuse request connections to the master instead of opening one per request.' },
] as const satisfies readonly OptionRow[];
