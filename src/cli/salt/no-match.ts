// Salt's sentence for a target that reaches nobody, which scripts look for.
export const noMatch = 'No minions matched the target. No command was sent, no jid was assigned.';
