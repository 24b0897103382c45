// Option table shared by master and minion: logging.
import type { OptionRow } from '../row.ts';

export const commonLog = [
  { name: 'log_level', type: 'str', default: 'warning', doc: 'Lowest level shown on the console.', reload: true },
  {
    name: 'log_level_logfile',
    type: ['null', 'str'],
    default: null,
    doc: "Lowest level written to the log file; unset means the console's level.",
    reload: true,
  },
  { name: 'log_datefmt', type: 'str', default: '%H:%M:%S', doc: 'Time format of console lines.' },
  { name: 'log_datefmt_logfile', type: 'str', default: '%Y-%m-%d %H:%M:%S', doc: 'Time format of log file lines.' },
  {
    name: 'log_fmt_console',
    type: 'str',
    default: '[%(levelname)-8s] %(message)s',
    doc: 'Layout of console lines, with Python %-style attributes.',
  },
  {
    name: 'log_fmt_logfile',
    type: 'str',
    default: '%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s',
    doc: 'Layout of log file lines, with Python %-style attributes.',
  },
  {
    name: 'log_fmt_jid',
    type: ['null', 'str'],
    default: '[JID: %(jid)s]',
    doc: 'Layout of the job id where a log layout asks for `%(jid)s`.',
  },
  {
    name: 'log_fmt_minion_id',
    type: ['null', 'str'],
    default: '[%(minion_id)s]',
    since: '3008.0',
    doc: 'Layout of the minion id where a log layout asks for `%(minion_id)s`.',
  },
  {
    name: 'log_granular_levels',
    type: 'dict',
    default: {},
    doc: 'Levels for single loggers, by logger name.',
    reload: true,
  },
  {
    name: 'log_rotate_max_bytes',
    type: 'int',
    default: 0,
    doc: 'Size at which the log file is rotated, on Windows only; elsewhere use logrotate.',
  },
  {
    name: 'log_rotate_backup_count',
    type: 'int',
    default: 0,
    doc: 'How many rotated log files to keep, on Windows only.',
  },
] as const satisfies readonly OptionRow[];
