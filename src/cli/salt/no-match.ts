// Salt's message for a target that matches no minion; scripts search for it.
export const noMatch = 'No minions matched the target. No command was sent, no jid was assigned.';
