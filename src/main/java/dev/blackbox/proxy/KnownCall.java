package dev.blackbox.proxy;

/**
 * A call of a turn that its agent may send again.
 *
 * @param callId as in its record
 * @param retries how often the agent has sent it again without a step of its own
 * @param visit of the agent that sent it
 * @param tape what that agent is told
 */
record KnownCall(String callId, int step, int retries, Visit visit, Tape tape) {}
