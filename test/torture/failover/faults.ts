import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../histories/deployment.ts';
import { changesOf } from '../histories/feed.ts';
import { PATRONI, type PatroniCluster, POSTGRES } from './cluster.ts';
import type { Machine } from './machines.ts';

/** Longer than the time to live of a leader. */
const LONG_MS = 30_000;
const PAUSED_MS = 10_000;
const RESTARTED_MS = 2_000;
/** While the standbys are cut off, this much is acknowledged that a failover then loses. */
const LOST_MS = 4_000;

/**
 * What happens to the members, the shortest first. When a fault is over, there is a leader with two standbys again.
 * @param expectReported called after acknowledged changes were lost
 */
export function failoverFaults(
  cluster: PatroniCluster,
  expectReported: () => Promise<void>,
): Fault[] {
  /** A fault of the leader, after which another member leads, and what ends it. */
  const ofLeader = (
    name: string,
    begin: (leader: Machine) => void | Promise<void>,
    end: (leader: Machine) => void | Promise<void>,
  ): Fault => ({
    name,
    deliversWithinMs: LONG_MS,
    happen: async () => {
      const leader = await cluster.settled();
      await begin(leader);
      await cluster.leaderAfter(leader);
      await end(leader);
      await cluster.settled();
    },
  });
  /** A fault that does not move the leader. */
  const inPlace = (name: string, happen: (leader: Machine) => Promise<void>): Fault => ({
    name,
    deliversWithinMs: LONG_MS,
    happen: async () => {
      await happen(await cluster.settled());
      await cluster.settled();
    },
  });
  const start = (machine: Machine) => cluster.startPatroni(machine);
  return [
    inPlace('a switchover', (leader) => cluster.switchOver(leader)),
    inPlace('the end of all sessions', async (leader) => {
      cluster.query(
        leader,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'orders'",
      );
    }),
    inPlace('a kill of the main process of PostgreSQL', async (leader) => {
      leader.signal('SIGKILL', /bin\/postgres /);
      await pause(RESTARTED_MS);
    }),
    inPlace('a kill of HAProxy', async () => {
      await cluster.stopProxy();
      await pause(RESTARTED_MS);
      cluster.startProxy();
    }),
    inPlace('a PostgreSQL that is stopped, and continues', async (leader) => {
      leader.signal('SIGSTOP', POSTGRES);
      await pause(PAUSED_MS);
      leader.signal('SIGCONT', POSTGRES);
    }),
    inPlace('a kill of the machine of the synchronous standby', async (leader) => {
      const name = cluster.query(
        leader,
        "SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync'",
      );
      const standby = cluster.machines.find((machine) => machine.name === name)!;
      standby.signal('SIGKILL');
      await pause(RESTARTED_MS);
      start(standby);
    }),
    ofLeader('a kill of the machine of the leader', (leader) => leader.signal('SIGKILL'), start),
    ofLeader('a stop of the leader', (leader) => leader.signal('SIGTERM', PATRONI), start),
    ofLeader(
      'a leader that is paused, and continues beside the new one',
      (leader) => leader.signal('SIGSTOP'),
      (leader) => leader.signal('SIGCONT'),
    ),
    ofLeader(
      'a leader that is off the network',
      (leader) => leader.connect(false),
      (leader) => leader.connect(true),
    ),
    ofLeader(
      'a leader that is cut off from etcd',
      (leader) => leader.connectToEtcd(false),
      (leader) => leader.connectToEtcd(true),
    ),
    ofLeader(
      'a leader whose Patroni is killed, and whose watchdog resets the machine',
      async (leader) => {
        leader.signal('SIGKILL', PATRONI);
        await pause(PAUSED_MS);
        leader.signal('SIGKILL');
      },
      start,
    ),
    {
      name: 'a failover to a standby that lacks the latest changes',
      deliversWithinMs: LONG_MS,
      happen: async ({ replaceHistory }) => {
        await cluster.configure({ synchronous_mode: false });
        const leader = await cluster.settled({ isSynchronous: false });
        const others = cluster.machines.filter((machine) => machine !== leader);
        await pause(RESTARTED_MS);
        for (const machine of others) machine.connect(false);
        await pause(LOST_MS);
        await replaceHistory(async () => {
          const before = await changesOf(cluster.urlAt(leader));
          leader.signal('SIGKILL');
          for (const machine of others) machine.connect(true);
          await cluster.leaderAfter(leader);
          start(leader);
          await cluster.configure({ synchronous_mode: true });
          await cluster.settled();
          return before;
        });
        await expectReported();
      },
    },
  ];
}
