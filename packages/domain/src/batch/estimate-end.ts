import { healthOf, type MinuteTally, TYPICAL_DURATIONS_MS } from '../member-state-health.js';
import type { MemberState } from '../member-states.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long the recent past is: the minutes whose counts say what a member state does now. */
export const RECENT_MS = 5 * MINUTE_MS;
/** Workers write the counts of a minute up to this much after it ended. */
const WRITTEN_AFTER_MS = 7_000;
/** The latest complete minutes show how fast lines end. */
const MEASURED_MINUTES = 3;
/** How many days the usual speed of an hour is taken from: ten working days and two weekends. */
export const USUAL_DAYS = 14;

/** The lookups of a member state in one hour of the day (UTC), summed up over past days of the same kind. */
export type UsualHour = {
  memberState: MemberState;
  /** 0 to 23 */
  hour: number;
  weekend: boolean;
  answered: number;
  /** How long all lookups took, those without an answer included. */
  busyMs: number;
};

/** What one member state does now and usually. Speeds are answered lookups per second with both slots in use. */
export type StateOutlook = {
  condition: 'ok' | 'saturated' | 'down';
  /** Complete recent minutes, each with the requests of batches that ended in it. */
  minutes: readonly { at: Date; lines: number }[];
  /** By the durations of recent lookups; null without an answered one. `lookups`: how many it is derived from. */
  recent: { perSecond: number; lookups: number } | null;
  /** Answers per second of recent lookups that did not end a line. */
  othersPerSecond: number;
  /** By the lookups of past days at the hour of a time; null where there were none. */
  usual: (at: Date) => number | null;
};

const SLOTS = 2;
const speedOf = (answered: number, busyMs: number): number | null =>
  answered > 0 && busyMs > 0 ? (SLOTS * 1_000 * answered) / busyMs : null;

const sum = (values: readonly number[]): number => values.reduce((total, n) => total + n, 0);
const lookupsOf = (tallies: readonly MinuteTally[], end?: MinuteTally['end']): number =>
  sum(tallies.map((tally) => (end === undefined || tally.end === end ? tally.lookups : 0)));

const isWeekend = (at: Date): boolean => at.getUTCDay() % 6 === 0;

/** The usual speed by the hour of the day; an hour of a weekend without lookups is taken from working days, and vice versa. */
const usualSpeeds = (hours: readonly UsualHour[]) => {
  const speeds = new Map(hours.map((of) => [`${of.weekend} ${of.hour}`, speedOf(of.answered, of.busyMs)]));
  return (at: Date): number | null => {
    const hour = at.getUTCHours();
    return speeds.get(`${isWeekend(at)} ${hour}`) ?? speeds.get(`${!isWeekend(at)} ${hour}`) ?? null;
  };
};

/** Fewer lookups say nothing about a member state. */
const LEAST_LOOKUPS = 2;
const SATURATED_FROM = 0.5;

/**
 * The condition by the lookups of the current minute and the one before, or of all recent ones where these are too few. `isDown`: what
 * the workers share, null when that is unknown: lookups show it later, and there are few of them while it is down.
 */
const conditionOf = (tallies: readonly MinuteTally[], isDown: boolean | null, now: Date): StateOutlook['condition'] => {
  if (isDown === true) return 'down';
  const latest = tallies.filter((tally) => now.getTime() - tally.minute.getTime() < 2 * MINUTE_MS);
  const of = lookupsOf(latest) >= LEAST_LOOKUPS ? latest : tallies;
  const lookups = lookupsOf(of);
  if (lookups < LEAST_LOOKUPS) return 'ok';
  const saturated = lookupsOf(of, 'saturated') / lookups;
  if (saturated >= SATURATED_FROM) return 'saturated';
  return isDown === null && healthOf(lookupsOf(of, 'answered') / lookups, saturated) === 'down' ? 'down' : 'ok';
};

/** The outlook of one member state. `tallies`: its counts of the last {@link RECENT_MS}. `hours`: its usual hours. `isDown`: null when unknown. */
export const outlookOf = (
  tallies: readonly MinuteTally[],
  hours: readonly UsualHour[],
  isDown: boolean | null,
  now: Date,
): StateOutlook => {
  const lastWritten = now.getTime() - MINUTE_MS - WRITTEN_AFTER_MS;
  const last = Math.floor(lastWritten / MINUTE_MS) * MINUTE_MS;
  const minutes = Array.from({ length: MEASURED_MINUTES }, (_, n) => {
    const at = new Date(last - n * MINUTE_MS);
    const mine = tallies.filter(({ minute }) => minute.getTime() === at.getTime());
    return { at, lines: sum(mine.map(({ lines }) => lines)), answered: lookupsOf(mine, 'answered') };
  });
  const answered = lookupsOf(tallies, 'answered');
  const busyMs = sum(
    tallies.flatMap(({ buckets }) => buckets.map((n, bucket) => n * (TYPICAL_DURATIONS_MS[bucket] ?? 0))),
  );
  const perSecond = speedOf(answered, busyMs);
  const others = sum(minutes.map(({ answered: all, lines }) => Math.max(0, all - lines)));
  return {
    condition: conditionOf(tallies, isDown, now),
    minutes: minutes.map(({ at, lines }) => ({ at, lines })),
    recent: perSecond === null ? null : { perSecond, lookups: lookupsOf(tallies) },
    othersPerSecond: others / (minutes.length * (MINUTE_MS / 1_000)),
    usual: usualSpeeds(hours),
  };
};

/** The share of the time in which slots are used while work waits; docs/benchmarks.md has figures. */
const SLOT_USE = 0.85;
/** Lines get at least this share of the lookups, whatever other classes need. */
const LEAST_SHARE = 0.1;
/** So many recent lookups count as much as the usual speed of the hour. */
const TRUSTED_LOOKUPS = 8;
/** A difference between now and the usual speed halves in this time. */
const HALF_LIFE_MS = 2 * HOUR_MS;

const log = (a: number | null, b: number | null): number => (a === null || b === null ? 0 : Math.log(a / b));

/** The speed now, from recent lookups and the usual speed of the hour; null when there is neither. */
const speedNow = ({ recent, usual }: StateOutlook, now: Date): number | null => {
  const usually = usual(now);
  if (recent === null || usually === null) return recent?.perSecond ?? usually;
  const weight = recent.lookups / (recent.lookups + TRUSTED_LOOKUPS);
  return usually * (recent.perSecond / usually) ** weight;
};

/**
 * Requests of batches that a member state ends per second now; null when unknown. Lines have waited since `since`: the minutes
 * since then show what is left for lines beside the other classes, pauses and confirmations. Before the first such minute the
 * durations of lookups have to do.
 */
const linesPerSecond = (outlook: StateOutlook, since: Date, now: Date): number | null => {
  const measured = outlook.minutes.filter(({ at }) => at >= since);
  if (measured.length > 0) {
    const lines = sum(measured.map(({ lines: n }) => n));
    return lines === 0 ? null : lines / (measured.length * (MINUTE_MS / 1_000));
  }
  const speed = speedNow(outlook, now);
  return speed === null ? null : Math.max(LEAST_SHARE * speed, SLOT_USE * speed - outlook.othersPerSecond);
};

/** How far into the future an estimate looks. */
const HORIZON_MS = 30 * 24 * HOUR_MS;

/**
 * When a member state will have ended `ahead` requests of batches; null when unknown. Hour by hour: each is as much faster or
 * slower than this one as it usually is, and an unusual speed becomes usual with time.
 */
const endOfState = (outlook: StateOutlook, ahead: number, since: Date, now: Date): Date | null => {
  if (outlook.condition === 'down') return null;
  const perSecond = linesPerSecond(outlook, since, now);
  if (perSecond === null) return null;
  const usually = outlook.usual(now);
  const unusual = log(speedNow(outlook, now), usually);
  const speedAt = (at: number): number => {
    const faded = 2 ** (-(at - now.getTime()) / HALF_LIFE_MS) - 1;
    const then = outlook.usual(new Date(at));
    return perSecond * Math.exp(usually === null || then === null ? 0 : log(then, usually) + unusual * faded);
  };
  let left = ahead;
  let at = now.getTime();
  while (at - now.getTime() < HORIZON_MS) {
    const end = (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;
    const speed = speedAt(at);
    const neededMs = (1_000 * left) / speed;
    if (at + neededMs <= end) return new Date(at + neededMs);
    left -= (speed * (end - at)) / 1_000;
    at = end;
  }
  return null;
};

/** Requests of a batch in one member state, and those whose turn is before its last one. */
type WorkOfState = { memberState: MemberState; ahead: number };

/** The least time until a batch is completed: its last answers are being recorded. */
const RECORDING_MS = 1_000;

/**
 * When a batch will be completed: the slowest of its member states decides. Null when that cannot be estimated, as while one of
 * them is down. `since`: when its lines began to wait.
 */
export const estimateEnd = (
  work: readonly WorkOfState[],
  outlooks: ReadonlyMap<MemberState, StateOutlook>,
  since: Date,
  now: Date,
): Date | null => {
  let latest = now.getTime() + RECORDING_MS;
  for (const { memberState, ahead } of work) {
    const outlook = outlooks.get(memberState);
    const end = outlook ? endOfState(outlook, ahead, since, now) : null;
    if (end === null) return null;
    latest = Math.max(latest, end.getTime());
  }
  return new Date(Math.ceil(latest / 1_000) * 1_000);
};

/**
 * How many requests have their turn until the last of an account's `own` ones ends: accounts take turns, so each of the `others`
 * gets as many as this account, or all it has.
 */
export const aheadInTurns = (own: number, others: readonly number[]): number =>
  own + sum(others.map((waiting) => Math.min(waiting, own)));
