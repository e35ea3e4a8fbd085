import { TURN_PLACES } from '@vat/domain';
import { defineScript, type RedisConnection } from './connect-redis.js';
import { PRIORITIES, type PriorityClass } from './job-catalogue.js';

/** {@link TURN_PLACES} for the script. */
const PLACES_TEXT = JSON.stringify(TURN_PLACES);

/** BullMQ's greatest priority; the lowest is 1, since 0 stands for none. */
const MAX_PRIORITY = 2 ** 21 - 1;
/** The count of lookups starts again from here, long before priorities end. */
const RESTART_AT = 2 ** 20;
/** A job that is further ahead of the count than any rank can be was added by a release that counted otherwise. */
const FOREIGN_AHEAD = 2 ** 16;

/** A job that is not there so many seconds after its place was taken does not come. Its row may be written meanwhile, in half of them. */
const ADDED_WITHIN_S = 10;

/**
 * KEYS: the turns of the queue, BullMQ's sets of its prioritized and delayed jobs and the list of active ones, and the places that
 * were taken lately, each a turn and the id of a job that has not run, by when (in seconds). The turns are a hash: `made` counts the
 * lookups, `at` is when places were taken last (in seconds), and each other field counts the waiting jobs of an account and class.
 * ARGV: the beginning of the keys of jobs, RESTART_AT, FOREIGN_AHEAD, MAX_PRIORITY, whether ranks are counted up; then for
 * each job its field, `ahead`, `each` and its id. Returns a priority for each job.
 *
 * BullMQ's scores are priority × 2^32 + order of arrival.
 */
const TAKE_PLACES = `
local turns, prioritized, delayed, active, taken = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local restartAt, foreign, max = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local made = tonumber(redis.call('HGET', turns, 'made') or '0')
local last = redis.call('ZRANGE', prioritized, -1, -1, 'WITHSCORES')
local time = tonumber(redis.call('TIME')[1])
if not last[1] and time - tonumber(redis.call('HGET', turns, 'at') or '0') > 5 then
  -- Nothing waits, and no job is on its way. What a crashed process counted and did not count down ends here.
  redis.call('DEL', turns, taken)
  redis.call('HSET', turns, 'made', made)
elseif last[1] and ( made > restartAt or tonumber(last[2]) / 4294967296 > made + foreign) then
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
redis.call('HSET', turns, 'at', time)
-- Redis may have taken a place after its process stopped waiting for it, and then again for the same job.
for _, place in ipairs(redis.call('ZRANGEBYSCORE', taken, '-inf', time - ${ADDED_WITHIN_S}, 'LIMIT', 0, 500)) do
  local turn, id = string.match(place, '^(.*)|(.*)$')
  local isLost = redis.call('EXISTS', ARGV[1] .. id) == 0
  if isLost and redis.call('HINCRBY', turns, turn, -1) < 1 then redis.call('HDEL', turns, turn) end
  redis.call('ZREM', taken, place)
end
local places = {}
for i = 6, #ARGV, 4 do
  local rank
  if ARGV[5] == '1' and redis.call('ZADD', taken, 'NX', time, ARGV[i] .. '|' .. ARGV[i + 3]) == 1 then
    rank = redis.call('HINCRBY', turns, ARGV[i], 1)
  else rank = math.max(1, tonumber(redis.call('HGET', turns, ARGV[i]) or '1')) end
  places[#places + 1] = math.min(max, made + tonumber(ARGV[i + 1]) + tonumber(ARGV[i + 2]) * rank)
end
return places`;

/**
 * A worker has taken a job. KEYS: the turns, the retried jobs, BullMQ's set of prioritized jobs, the places that were taken. ARGV: the
 * id of the job, its turn, whether it runs for the first time, the places of the classes, MAX_PRIORITY. Counts the job down. A job
 * that was delayed comes back with its old priority, which would put it before all newer jobs: while others wait it gets a new place
 * once. Returns the priority of that place, or nothing when the job is to run.
 *
 * The retried jobs are a hash: the id of a job, and the turn in which it waits for its next run; with `+` once it has its place.
 */
const LEAVE_PLACE = `
local turns, retried, prioritized = KEYS[1], KEYS[2], KEYS[3]
local id, turn, first = ARGV[1], ARGV[2], ARGV[3] == '1'
if first then redis.call('ZREM', KEYS[4], turn .. '|' .. id) end
-- A first run may be counted after its job was marked as delayed. The mark is for the next one.
local again = not first and redis.call('HGET', retried, id)
if again and string.sub(again, 1, 1) ~= '+' and redis.call('ZCARD', prioritized) > 0 then
  redis.call('HSET', retried, id, '+' .. again)
  local class = cjson.decode(ARGV[4])[string.match(again, '[^:]*$')]
  local made = tonumber(redis.call('HGET', turns, 'made') or '0')
  local rank = redis.call('HINCRBY', turns, again, 1)
  return math.min(tonumber(ARGV[5]), made + class.ahead + class.each * rank)
end
if again then redis.call('HDEL', retried, id) end
redis.call('HINCRBY', turns, 'made', 1)
local counted = first and turn or again and string.sub(again, 1, 1) == '+' and string.sub(again, 2)
if counted and redis.call('HINCRBY', turns, counted, -1) < 1 then redis.call('HDEL', turns, counted) end`;

/** A job is not added after all. KEYS: the turns, the places that were taken. ARGV: its turn and id. */
const GIVE_BACK = `
if redis.call('ZREM', KEYS[2], ARGV[1] .. '|' .. ARGV[2]) == 0 then return end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) < 1 then redis.call('HDEL', KEYS[1], ARGV[1]) end`;

/** KEYS: the retried jobs. ARGV: the id of a job that is delayed, and its turn. Longer than any delay, unless its job is lost. */
const RETRY_LATER = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], 604800)`;

/** The turn of a job: its account and its class. The job carries it, so that the worker that takes the job can count it down. */
export const turnOf = (accountId: string, priority: PriorityClass): string => `${accountId}:${priority}`;

/** The same account's turn in another class. */
export const withClass = (turn: string, priority: PriorityClass): string =>
  turnOf(turn.slice(0, turn.lastIndexOf(':')), priority);

const classOf = (turn: string): PriorityClass => {
  const name = turn.slice(turn.lastIndexOf(':') + 1);
  return name in PRIORITIES ? (name as PriorityClass) : 'watch';
};

/** A job that is about to be added. */
type Placed = { turn: string; id: string };

/** Forms the keys of a queue. */
type Keys = { toKey: (type: string) => string };

/** The order of the jobs of a queue in which accounts take turns. All its state is in Redis and may be lost with it. */
export const createTurns = (connection: RedisConnection) => {
  const takePlaces = defineScript<number[]>(connection, 'takePlaces', 5, TAKE_PLACES);
  const leavePlace = defineScript<number | null>(connection, 'leavePlace', 4, LEAVE_PLACE);
  const giveBack = defineScript<null>(connection, 'giveBackPlace', 2, GIVE_BACK);
  const retryLater = defineScript<null>(connection, 'retryLater', 1, RETRY_LATER);
  const take = (queue: Keys, jobs: readonly (Placed & { priority: PriorityClass })[], isNew: boolean) =>
    takePlaces(
      ...['turns', 'prioritized', 'delayed', 'active', 'taken'].map((type) => queue.toKey(type)),
      queue.toKey(''),
      RESTART_AT,
      FOREIGN_AHEAD,
      MAX_PRIORITY,
      isNew ? '1' : '0',
      ...jobs.flatMap(({ turn, id, priority }) => [turn, TURN_PLACES[priority].ahead, TURN_PLACES[priority].each, id]),
    );
  return {
    /** The priorities in BullMQ of jobs that are about to be added, in their order. A job is counted once, however often it is placed. */
    take: (queue: Keys, jobs: readonly Placed[]): Promise<number[]> =>
      take(
        queue,
        jobs.map((job) => ({ ...job, priority: classOf(job.turn) })),
        true,
      ),
    /** Counts a job down whose place was taken, and that is not added. */
    giveBack: (queue: Keys, { turn, id }: Placed): Promise<unknown> =>
      giveBack(queue.toKey('turns'), queue.toKey('taken'), turn, id),
    /** The priority in BullMQ of a job that changes to another class; its rank stays. */
    move: async (queue: Keys, turn: string, priority: PriorityClass): Promise<number> => {
      const [place] = await take(queue, [{ turn, id: '', priority }], false);
      return place ?? MAX_PRIORITY;
    },
    /**
     * Counts a job that a worker has taken. Returns the priority with which it must wait again, or null when it is to run. Never
     * rejects: what is not counted ends when the queue is empty.
     */
    leave: async (queue: Keys, turn: string, jobId: string, firstRun: boolean): Promise<number | null> => {
      if (connection.status !== 'ready') return null;
      const keys = ['turns', 'retried', 'prioritized', 'taken'].map((type) => queue.toKey(type));
      const left = leavePlace(...keys, jobId, turn, firstRun ? '1' : '0', PLACES_TEXT, MAX_PRIORITY);
      return left.catch(() => null);
    },
    /** Marks a job that is about to be delayed: it gets a new place when it is due. */
    retryLater: (queue: Keys, turn: string, jobId: string): Promise<unknown> =>
      retryLater(queue.toKey('retried'), jobId, turn),
  };
};
