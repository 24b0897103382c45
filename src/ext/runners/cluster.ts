// Runner `cluster`: the masters that work as one.
import {
  type ClusterMemberStatus,
  type ClusterReport,
  comparisonValue,
  defineRunner,
  HaliteError,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
} from 'halite/sdk';
import { drillText, hasFailed } from './shared/cluster-drill-text.ts';
import { clusterProblems } from './shared/cluster-problems.ts';
import { statusText } from './shared/cluster-status-text.ts';

async function reportOf(ctx: MasterContext): Promise<ClusterReport> {
  const report = await ctx.master.cluster.report();
  if (report) return report;
  throw new HaliteError('call.failed', 'This master works alone.', {
    hint: 'Several masters work as one with the option `cluster` in the master configuration.',
  });
}

const fieldsOf = ({ since, heldSince, ...member }: ClusterMemberStatus): PlainDict =>
  newDict([
    ...Object.entries(member).filter(([name]) => name !== 'id'),
    ['since', since.toISOString()],
    ...(heldSince ? [['heldSince', heldSince.toISOString()] as const] : []),
  ]);

const names = (value: unknown): string[] =>
  (Array.isArray(value) ? value.map(String) : String(value).split(',')).map((name) => name.trim()).filter(Boolean);

const dryRun = p.bool({ default: false, doc: 'only tells what would be done' });
const nothingChanged = 'Nothing was changed: this is a dry run.';

function drainPlan(member: string, undo: boolean, waits: readonly string[]): string {
  const has = waits.length > 0 ? `It has now: ${waits.join('; ')}.` : 'It holds nothing and follows no job.';
  const plan = undo
    ? `Would let ${member} take jobs again.`
    : `Would let ${member} start no new jobs, give its jobs to the others, and wait until it holds nothing. ${has}`;
  return `${plan} ${nothingChanged}`;
}

async function rotationPlan(ctx: MasterContext): Promise<string> {
  const report = await ctx.master.cluster.report();
  const masters = report ? report.members.filter(({ state }) => state === 'joined').map(({ id }) => id) : [];
  const where = masters.length > 0 ? `on ${masters.join(', ')} at the same moment` : 'on this master';
  return `Would change the AES key of the fleet ${where}: every minion signs in again at its next message. ${nothingChanged}`;
}

export default defineRunner({
  name: 'cluster',
  doc: 'The masters that work as one: their state, and how they differ.',
  functions: {
    status: masterFn({
      doc: 'Members, leader, engine and differences, one line each. The exit code is 1 when something is wrong.',
      examples: ['salt-run cluster.status'],
      params: {},
      async run(_args, ctx) {
        const report = await reportOf(ctx);
        const problems = clusterProblems(report);
        if (problems.length > 0) ctx.setRetcode(1);
        return statusText(report, problems);
      },
    }),
    members: masterFn({
      doc: 'The members, with what each of them tells about itself.',
      examples: ['salt-run cluster.members --out=json'],
      params: {},
      run: async (_args, ctx) => newDict((await reportOf(ctx)).members.map((member) => [member.id, fieldsOf(member)])),
    }),
    problems: masterFn({
      doc: 'What is wrong with the cluster, as a list; empty when nothing is, or when this master works alone.',
      examples: ['salt-run cluster.problems'],
      params: {},
      async run(_args, ctx) {
        const report = await ctx.master.cluster.report();
        return report ? clusterProblems(report) : [];
      },
    }),
    diff: masterFn({
      doc: 'How options, files and pillars of two members differ. Values that look like secrets are masked.',
      examples: ['salt-run cluster.diff m1 m2'],
      params: { one: p.text({ doc: 'a member' }), other: p.text({ doc: 'another one' }) },
      run: ({ one, other }, ctx) => ctx.master.cluster.diff(one, other),
    }),
    repair: masterFn({
      doc: 'Compares the jobs and results of this master with those of all others now, and fetches what is missing here. It happens by itself every ten minutes, after a start, and when the engine lost data. The exit code is 1 when a member was not reached.',
      examples: ['salt-run cluster.repair'],
      params: {},
      async run(_args, ctx) {
        const compared = await ctx.master.cluster.repair();
        if (compared.unreached.size > 0) ctx.setRetcode(1);
        return comparisonValue(compared);
      },
    }),
    invite: masterFn({
      doc: 'Makes an invitation: one line that lets one machine join the cluster, with `halite cluster join` there. It is a secret, works once, and for a quarter of an hour.',
      examples: ['salt-run cluster.invite', 'salt-run cluster.invite minutes=60'],
      params: { minutes: p.int({ default: 15, doc: 'how long it can be used' }) },
      run: ({ minutes }, ctx) => ctx.master.membership.invite(minutes),
    }),
    drain: masterFn({
      doc: 'Prepares a member for its stop: it starts no new jobs, others go on with those that it has, and it gives away what only it has stored. Says what it waits for; the exit code is 1 while there is something. A start of that master, or undo=True, ends it.',
      examples: ['salt-run cluster.drain m3', 'salt-run cluster.drain m3 undo=True'],
      params: {
        member: p.text({ doc: 'its id' }),
        seconds: p.int({ default: 60, doc: 'how long to wait until it holds nothing' }),
        undo: p.bool({ default: false, doc: 'let it work as before' }),
        dry_run: dryRun,
      },
      async run({ member, seconds, undo, dry_run }, ctx) {
        const { isEmpty, held, jobs } = await ctx.master.membership.drain(member, { seconds, undo, dryRun: dry_run });
        const waits = [
          held > 0 ? `${held} records that only its disk has` : '',
          jobs.length > 0 ? `${jobs.length} jobs that only it follows (${jobs.slice(0, 5).join(', ')})` : '',
        ].filter(Boolean);
        if (dry_run) return drainPlan(member, undo, waits);
        if (undo) return `${member} takes jobs again.`;
        if (isEmpty)
          return `${member} holds nothing and follows no job: stop it. If it shall not come back: salt-run cluster.forget ${member}`;
        ctx.setRetcode(1);
        return `${member} starts no new jobs, and waits for: ${waits.join('; ')}. Run this again, or: salt-run cluster.drain ${member} undo=True`;
      },
    }),
    forget: masterFn({
      doc: 'Removes a member that does not run any more; its slot can be used by another one after publish_session. For one that was not drained, lost=True says what may be lost with it.',
      examples: ['salt-run cluster.forget m3', 'salt-run cluster.forget m3 lost=True'],
      params: {
        member: p.text({ doc: 'its id' }),
        lost: p.bool({ default: false, doc: 'it will not come back, although it was not drained' }),
        dry_run: dryRun,
      },
      run: ({ member, lost, dry_run }, ctx) => ctx.master.membership.forget(member, { lost, dryRun: dry_run }),
    }),
    rekey: masterFn({
      doc: 'Makes a new key for what the masters tell each other (cluster_bus.key), while they work: all take it, then use it, what the nats-servers store is sealed with it, and the old key ends. Masters that are stopped take it when they start; one that was forgotten gets none.',
      examples: ['salt-run cluster.rekey', 'salt-run cluster.rekey minutes=0', 'salt-run cluster.rekey dry_run=True'],
      params: {
        minutes: p.int({ default: 60, doc: 'how long the old key still opens what was sealed with it' }),
        dry_run: dryRun,
      },
      run: ({ minutes, dry_run }, ctx) => ctx.master.membership.rekey({ minutes, dryRun: dry_run }),
    }),
    drill: masterFn({
      doc: 'Tries what happens when this master dies: closes its ports for some seconds while harmless jobs run (test.sleep, test.ping), opens them again, and says which results were lost, late, or taken by another master. The exit code is 1 when something was lost.',
      examples: ['salt-run cluster.drill --dry-run', 'salt-run cluster.drill', 'halite drill kill-master'],
      params: {
        seconds: p.int({ default: 20, doc: 'how long the ports are closed: 5 to 60' }),
        minions: p.int({ default: 20, doc: 'how many minions take part, at most: 1 to 200' }),
        force: p.bool({ default: false, doc: 'also while jobs of this master are under way' }),
        dry_run: dryRun,
      },
      async run({ seconds, minions, force, dry_run }, ctx) {
        const report = await ctx.master.membership.drill({ seconds, minions, force, dryRun: dry_run });
        if (hasFailed(report)) ctx.setRetcode(1);
        return drillText(report);
      },
    }),
    sync_roots: masterFn({
      doc: 'Makes the folders of file_roots and pillar_roots of other members equal to those of this master. Each folder is built beside the served one, checked, and switched as a whole; the old one is kept beside it.',
      examples: ['salt-run cluster.sync_roots dry_run=True', 'salt-run cluster.sync_roots base members=m2'],
      params: {
        env: p.string({ default: null, nullable: true, doc: 'one environment; default: all' }),
        members: p.oneOf(['string', 'list'], {
          default: null,
          nullable: true,
          doc: 'ids of members; default: all others',
        }),
        only: p.string({ default: null, nullable: true, doc: 'only `files`, or only `pillar`' }),
        dry_run: p.bool({ default: false, doc: 'only tells what would change' }),
      },
      async run({ env, members, only, dry_run }, ctx) {
        if (only !== null && only !== 'files' && only !== 'pillar')
          throw new HaliteError('call.arguments', `only=${only} is neither files nor pillar`);
        const { told, failed } = await ctx.master.cluster.syncRoots({
          ...(env === null ? {} : { env }),
          ...(members === null ? {} : { members: names(members) }),
          ...(only === null ? {} : { only }),
          dryRun: dry_run,
        });
        if (failed) ctx.setRetcode(1);
        return told;
      },
    }),
    rotate_aes: masterFn({
      doc: 'Changes the AES key of the fleet, on all masters at the same moment; gives the number of the new one. No job is lost.',
      examples: ['salt-run cluster.rotate_aes', 'salt-run cluster.rotate_aes dry_run=True'],
      params: { dry_run: dryRun },
      run: async ({ dry_run }, ctx) => (dry_run ? rotationPlan(ctx) : ctx.master.trust.rotateAes()),
    }),
    new_session: masterFn({
      doc: 'Ends the sessions of minions, which get new ones when they sign in again; for session keys that somebody may have read.',
      examples: ['salt-run cluster.new_session web1', 'salt-run cluster.new_session web1,web2'],
      params: { ids: p.oneOf(['string', 'list'], { doc: 'ids of minions' }) },
      async run({ ids }, ctx) {
        await ctx.master.trust.renewSessions(names(ids));
        return true;
      },
    }),
    import_keys: masterFn({
      doc: 'Takes the states of minion keys from a folder, on purpose: those that differed when this master joined, or those of another master. Of two decisions the stricter counts.',
      examples: [
        'salt-run cluster.import_keys dry_run=True',
        'salt-run cluster.import_keys /root/second-master/pki/master',
      ],
      params: {
        folder: p.string({
          default: null,
          nullable: true,
          doc: 'with the folders minions, minions_pre and so on; default: the copies of what differed',
        }),
        force: p.bool({ default: false, doc: 'also deleted keys, and other keys for known ids' }),
        dry_run: p.bool({ default: false, doc: 'only tells what would be taken' }),
      },
      run: ({ folder, force, dry_run }, ctx) =>
        ctx.master.trust.importKeys({ ...(folder ? { folder } : {}), force, dryRun: dry_run }),
    }),
  },
});
