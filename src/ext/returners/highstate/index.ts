// Returner `highstate`: a report about a run of states, by mail or in a file.

import { defineReturner, HaliteError, messageOf, newDict, p, type ReturnerContext, type Value } from 'halite/sdk';
import { dumpYaml } from 'halite/sdk/codec';
import { constants, writeFile } from 'halite/sdk/fs';
import { sprinkle, textList, toJson } from '../shared/loads.ts';
import { mailHost, sendMail } from '../shared/mail.ts';
import { htmlReport } from './html.ts';
import { nameValues, reportOf } from './report.ts';

const formats: Readonly<Record<string, (rows: Value[]) => string>> = {
  html: htmlReport,
  json: toJson,
  yaml: (rows) => dumpYaml(rows, { flow: false }),
};

/** Does not follow a link: the default folder is writable by every user. */
async function writeReport(file: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  await writeFile(file, text, { flag: flags, mode: 0o644 }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ELOOP' ? 'it is a symbolic link' : error.code;
    throw new HaliteError('store.unavailable', `The report ${file} cannot be written: ${why}`);
  });
}

/** The result of a function that describes the machine; the report is also sent when it fails. */
async function extraRow(fun: string | null, ctx: ReturnerContext): Promise<Value[]> {
  if (!fun) return [];
  if (!ctx.call) {
    ctx.log.warn(`The report of highstate has no part 'extra': ${fun} runs on minions only`);
    return [];
  }
  const answer = await ctx.call(fun).catch((error: unknown): Value => {
    ctx.log.error(`The function ${fun} for the report of highstate failed: ${messageOf(error)}`);
    return messageOf(error);
  });
  return [newDict([['extra', [newDict([[fun, nameValues(answer)]])]]])];
}

export default defineReturner({
  name: 'highstate',
  doc:
    'Reports on runs of states, as HTML, JSON or YAML, by mail or into a file: numbers, the job, and every state with ' +
    'its changes. Other results are passed over.',
  options: {
    report_everything: p.bool({ default: false, doc: 'Report also when nothing changed and nothing failed.' }),
    report_changes: p.bool({ default: true, doc: 'Report when something changed.' }),
    report_failures: p.bool({ default: true, doc: 'Report when something failed.' }),
    report_format: p.string({ default: 'yaml', doc: '`html`, `json` or `yaml`.' }),
    report_delivery: p.string({ default: 'file', doc: '`file`, or `smtp` for mail.' }),
    failure_function: p.string({
      default: null,
      doc: 'An execution function without arguments, run when something failed; its answer is shown under `extra`.',
    }),
    success_function: p.string({ default: null, doc: 'The same, when nothing failed.' }),
    file_output: p.string({
      default: '/tmp/test.rpt',
      doc: 'The file; grains in braces are filled in: `/srv/{id}.html`.',
    }),
    smtp_server: p.string({ default: 'localhost', doc: 'The mail server, with `:port` when it is not 25.' }),
    smtp_sender: p.string({ default: '', doc: 'The address of the sender.' }),
    smtp_recipients: p.strings({
      default: '',
      split: ',',
      doc: 'The addresses of the recipients, separated by commas.',
    }),
    smtp_success_subject: p.string({
      default: 'Installation success',
      doc: 'Subject; grains in braces are filled in.',
    }),
    smtp_failure_subject: p.string({ default: 'Installation failure', doc: 'Subject when something failed.' }),
  },
  open(given, ctx) {
    const format = formats[given.report_format];
    if (!format)
      throw new HaliteError(
        'config.value',
        `highstate.report_format is html, json or yaml, not ${given.report_format}`,
      );
    const grains = { ...ctx.grains, id: ctx.grains['id'] ?? ctx.id };
    const mail = (text: string, failed: number): Promise<void> => {
      const subject = sprinkle(failed > 0 ? given.smtp_failure_subject : given.smtp_success_subject, grains);
      const server = { ...mailHost(given.smtp_server), tls: false, verify: true, username: null, password: null };
      const to = textList(given.smtp_recipients);
      return sendMail(server, { from: given.smtp_sender, to, subject, text, kind: given.report_format });
    };
    return {
      async save(ret) {
        const report = reportOf(ret);
        if (!report) return;
        const { rows, failed, changed } = report;
        const wanted = (given.report_changes && changed > 0) || (given.report_failures && failed > 0);
        if (!given.report_everything && !wanted) return;
        const extra = await extraRow(failed > 0 ? given.failure_function : given.success_function, ctx);
        const text = format([...extra, ...rows]);
        if (given.report_delivery === 'file') await writeReport(sprinkle(given.file_output, grains), text);
        else await mail(text, failed);
      },
    };
  },
});
