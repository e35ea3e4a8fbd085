/**
 * The part that all scripts share. Keys, all of one endpoint: `flights` (jobs in flight, scored by the expiry of their
 * permit); `pace` (average duration of an attempt); `suspended` (jobs that wait for a permit, as `job|queue class`, oldest
 * delivery first: ids are ordered by time); `signalled` (jobs that were signalled and have not acquired their permit yet, so
 * that no second job is signalled for the same permit). Times are in milliseconds by the clock of Redis.
 */
const PRELUDE = `
local flights, pace, suspended, signalled = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local share, slowShare, slowAfter, hold = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local job, member = ARGV[5], ARGV[6]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', flights, '-inf', now)

local function isSlow()
  if tonumber(redis.call('HGET', pace, 'average') or '-1') > slowAfter then return true end
  local oldest = redis.call('ZRANGE', flights, 0, 0, 'WITHSCORES')[2]
  return oldest and now - (tonumber(oldest) - hold) > slowAfter
end

local function free(slow)
  return (slow and slowShare or share) - redis.call('ZCARD', flights)
end

local function signalNext()
  if redis.call('EXISTS', suspended) == 0 then return {} end
  redis.call('ZREMRANGEBYSCORE', signalled, '-inf', now)
  local room = free(isSlow()) - redis.call('ZCARD', signalled)
  if room <= 0 then return {} end
  local popped, next = redis.call('ZPOPMIN', suspended, room), {}
  for i = 1, #popped, 2 do
    next[#next + 1] = popped[i]
    redis.call('ZADD', signalled, string.format('%.0f', now + 2000), popped[i])
  end
  redis.call('PEXPIRE', signalled, 2000)
  return next
end
`;

/**
 * Acquires a permit. Returns {1, number of suspended jobs, jobs to signal}; {0, wait in ms, {}} when no permit is free; and
 * {2, 0, {}} for a first attempt to a slow endpoint. A job that runs again after its worker died takes over its own permit.
 *
 * The wait only matters when a signal is lost. It is long, and grows with the number of suspended jobs, so that a thousand
 * dead endpoints with all their deliveries cause little load.
 */
export const ACQUIRE_SCRIPT = `${PRELUDE}
redis.call('ZREM', suspended, member)
redis.call('ZREM', signalled, member)
redis.call('ZREM', flights, job)
local slow = isSlow()
if slow and ARGV[7] == 'first' then return {2, 0, {}} end
if free(slow) > 0 then
  redis.call('ZADD', flights, string.format('%.0f', now + hold), job)
  redis.call('PEXPIRE', flights, hold)
  return {1, redis.call('ZCARD', suspended), signalNext()}
end
return {0, math.min(600000, 30000 + 10000 * redis.call('ZCARD', suspended)), {}}`;

/** Adds a job to the suspended ones. Returns jobs to signal, since a permit may have become free in the meantime. */
export const SUSPEND_SCRIPT = `${PRELUDE}
redis.call('ZADD', suspended, 0, member)
redis.call('PEXPIRE', suspended, 3600000)
return signalNext()`;

/**
 * Releases a permit and updates the moving average of the duration: the first duration starts it, and about the last ten
 * determine it. Returns jobs to signal; none when the same job runs again at once, since they would run before it.
 */
export const RELEASE_SCRIPT = `${PRELUDE}
redis.call('ZREM', flights, job)
if ARGV[7] ~= '' then
  local average = tonumber(ARGV[7])
  local known = redis.call('HGET', pace, 'average')
  if known then average = tonumber(known) * 0.7 + average * 0.3 end
  redis.call('HSET', pace, 'average', string.format('%.3f', average))
  redis.call('PEXPIRE', pace, 60000)
end
if ARGV[8] == 'yes' then return {} end
return signalNext()`;
