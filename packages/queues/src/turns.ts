import type { Redis } from 'ioredis';
import { defineScript } from './connect-redis.js';
import { PRIORITIES, type PriorityClass } from './job-catalogue.js';

/**
 * The place of a job in its queue: jobs run in the order of `lookups made so far + ahead + each × rank` at the time when they
 * were added, where rank counts the waiting jobs of the same account and class, from 1. So the k-th job of an account is
 * behind the first of every other; a class is behind another one only by the difference of `ahead`, in lookups, and is reached
 * after that many however many jobs of other classes are added.
 */
const PLACES: Readonly<Record<PriorityClass, { ahead: number; each: number }>> = {
  interactive: { ahead: 0, each: 1 },
  background: { ahead: 3, each: 2 },
  batch: { ahead: 6, each: 2 },
  watch: { ahead: 9, each: 2 },
};

/** BullMQ's greatest priority; the lowest is 1, since 0 stands for none. */
const MAX_PRIORITY = 2 ** 21 - 1;
/** The count of lookups starts again from here, long before priorities end. */
const RESTART_AT = 2 ** 20;
/** A job that is further ahead of the count than any rank can be was added by a release that counted otherwise. */
const FOREIGN_AHEAD = 2 ** 16;

/**
 * KEYS: the turns of the queue, and BullMQ's sets of its prioritized and delayed jobs and the list of active ones. The turns
 * are a hash: `made` counts the lookups, and each other field the waiting jobs of an account and class.
 * ARGV: the beginning of the keys of jobs, RESTART_AT, FOREIGN_AHEAD, MAX_PRIORITY, whether ranks are counted up; then for
 * each job its field, `ahead` and `each`. Returns a priority for each job.
 *
 * BullMQ's scores are priority × 2^32 + order of arrival.
 */
const TAKE_PLACES = `
local turns, prioritized, delayed, active = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local restartAt, foreign, max = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local made = tonumber(redis.call('HGET', turns, 'made') or '0')
local last = redis.call('ZRANGE', prioritized, -1, -1, 'WITHSCORES')
if not last[1] then
  -- Nothing waits. What a crashed process counted and did not count down ends here.
  redis.call('DEL', turns)
  redis.call('HSET', turns, 'made', made)
elseif made > restartAt or tonumber(last[2]) / 4294967296 > made + foreign then
  local moved = function(priority)
    if priority > made + foreign then return 64 end
    return math.max(1, priority - made)
  end
  local jobs = redis.call('ZRANGE', prioritized, 0, -1, 'WITHSCORES')
  for i = 1, #jobs, 2 do
    local priority = math.floor(tonumber(jobs[i + 1]) / 4294967296)
    local score = moved(priority) * 4294967296 + tonumber(jobs[i + 1]) % 4294967296
    redis.call('ZADD', prioritized, string.format('%.0f', score), jobs[i])
    redis.call('HSET', ARGV[1] .. jobs[i], 'priority', moved(priority))
  end
  local others = redis.call('ZRANGE', delayed, 0, -1)
  for _, id in ipairs(redis.call('LRANGE', active, 0, -1)) do others[#others + 1] = id end
  for _, id in ipairs(others) do
    local priority = tonumber(redis.call('HGET', ARGV[1] .. id, 'priority') or '0')
    if priority > 0 then redis.call('HSET', ARGV[1] .. id, 'priority', moved(priority)) end
  end
  made = 0
  redis.call('HSET', turns, 'made', 0)
end
local places = {}
for i = 6, #ARGV, 3 do
  local rank
  if ARGV[5] == '1' then rank = redis.call('HINCRBY', turns, ARGV[i], 1)
  else rank = math.max(1, tonumber(redis.call('HGET', turns, ARGV[i]) or '1')) end
  places[#places + 1] = math.min(max, made + tonumber(ARGV[i + 1]) + tonumber(ARGV[i + 2]) * rank)
end
return places`;

/** KEYS: the turns. ARGV: the field of the job that now runs; empty when it ran before, and no longer counts as waiting. */
const LEAVE_PLACE = `
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('HINCRBY', KEYS[1], 'made', 1)
if ARGV[1] ~= '' and redis.call('HINCRBY', KEYS[1], ARGV[1], -1) < 1 then redis.call('HDEL', KEYS[1], ARGV[1]) end`;

/** The turn of a job: its account and its class. The job carries it, so that the worker that takes the job can count it down. */
export const turnOf = (accountId: string, priority: PriorityClass): string => `${accountId}:${priority}`;

const classOf = (turn: string): PriorityClass => {
  const name = turn.slice(turn.lastIndexOf(':') + 1);
  return name in PRIORITIES ? (name as PriorityClass) : 'watch';
};

/** Forms the keys of a queue. */
type Keys = { toKey: (type: string) => string };

/** The order of the jobs of a queue in which accounts take turns. All its state is in Redis and may be lost with it. */
export const createTurns = (connection: Redis) => {
  const takePlaces = defineScript<number[]>(connection, 'takePlaces', 4, TAKE_PLACES);
  const leavePlace = defineScript<null>(connection, 'leavePlace', 1, LEAVE_PLACE);
  const take = (queue: Keys, jobs: readonly { turn: string; priority: PriorityClass }[], isNew: boolean) =>
    takePlaces(
      ...['turns', 'prioritized', 'delayed', 'active'].map((type) => queue.toKey(type)),
      queue.toKey(''),
      RESTART_AT,
      FOREIGN_AHEAD,
      MAX_PRIORITY,
      isNew ? '1' : '0',
      ...jobs.flatMap(({ turn, priority }) => [turn, PLACES[priority].ahead, PLACES[priority].each]),
    );
  return {
    /** The priorities in BullMQ of jobs that are about to be added, in the order of their turns. */
    take: (queue: Keys, turns: readonly string[]): Promise<number[]> =>
      take(
        queue,
        turns.map((turn) => ({ turn, priority: classOf(turn) })),
        true,
      ),
    /** The priority in BullMQ of a job that changes to another class; its rank stays. */
    move: async (queue: Keys, turn: string, priority: PriorityClass): Promise<number> => {
      const [place] = await take(queue, [{ turn, priority }], false);
      return place ?? MAX_PRIORITY;
    },
    /** Counts a job that a worker has taken. Never rejects: what is not counted ends when the queue is empty. */
    leave: async (queue: Keys, turn: string, firstRun: boolean): Promise<void> => {
      if (connection.status === 'ready')
        await leavePlace(queue.toKey('turns'), firstRun ? turn : '').catch(() => undefined);
    },
  };
};
