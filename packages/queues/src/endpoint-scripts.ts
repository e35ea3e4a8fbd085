/**
 * What the scripts have in common. Keys, all of one endpoint: in flight (job → when its place runs out); pace (the average
 * duration); suspended (jobs that sleep until a place is free, as `job|lane`, oldest delivery first: ids are ordered by
 * time); called (suspended jobs that were woken and have not come yet, so that no second one is woken for the same place).
 * Times are Redis's own, in milliseconds.
 */
const PRELUDE = `
local flights, pace, suspended, called = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
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

local function callNext()
  if redis.call('EXISTS', suspended) == 0 then return {} end
  redis.call('ZREMRANGEBYSCORE', called, '-inf', now)
  local room = free(isSlow()) - redis.call('ZCARD', called)
  if room <= 0 then return {} end
  local popped, next = redis.call('ZPOPMIN', suspended, room), {}
  for i = 1, #popped, 2 do
    next[#next + 1] = popped[i]
    redis.call('ZADD', called, string.format('%.0f', now + 2000), popped[i])
  end
  redis.call('PEXPIRE', called, 2000)
  return next
end
`;

/**
 * Takes a place, if there is one: {1, how many wait, jobs to wake}, {0, wait, {}} or, in the lane of first attempts, {2, 0, {}}
 * when the endpoint is slow. A job that comes again after its worker died takes its own place over.
 *
 * The wait is the net under lost calls, so it is long, and longer the more there are: a thousand dead endpoints with all
 * that is addressed to them must not cost anything to speak of.
 */
export const ACQUIRE_SCRIPT = `${PRELUDE}
redis.call('ZREM', suspended, member)
redis.call('ZREM', called, member)
redis.call('ZREM', flights, job)
local slow = isSlow()
if slow and ARGV[7] == 'first' then return {2, 0, {}} end
if free(slow) > 0 then
  redis.call('ZADD', flights, string.format('%.0f', now + hold), job)
  redis.call('PEXPIRE', flights, hold)
  return {1, redis.call('ZCARD', suspended), callNext()}
end
return {0, math.min(600000, 30000 + 10000 * redis.call('ZCARD', suspended)), {}}`;

/** Puts a job that sleeps among those to be called; returns jobs to wake, since a place may have come free meanwhile. */
export const SUSPEND_SCRIPT = `${PRELUDE}
redis.call('ZADD', suspended, 0, member)
redis.call('PEXPIRE', suspended, 3600000)
return callNext()`;

/**
 * Gives a place back and notes the pace: a newcomer's average is its first duration, then the last ten or so count.
 * Returns jobs to wake; none when the same job comes back at once, or they would be served before it.
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
return callNext()`;
