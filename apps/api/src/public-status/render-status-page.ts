import type { publicStatusSchema } from '@vat/contracts';
import { type Health, healthOf, MAP_POSITIONS, type MemberState } from '@vat/domain';
import type { z } from 'zod';
import { renderPublicPage } from '../http/render-public-page.js';
import { STATUS_STYLE } from './status-style.js';

type PublicStatus = z.input<typeof publicStatusSchema>;
type StateNow = PublicStatus['member_states'][number];
type Hour = PublicStatus['history']['data'][number];

const HOUR_MS = 3_600_000;

/** Marks that repeat the colour for colour-blind readers. */
const MARKS: Readonly<Record<Health, string>> = { ok: '', degraded: '!', down: '✕', unknown: '' };
const WORDS: Readonly<Record<Health, string>> = {
  ok: 'answering',
  degraded: 'partly answering',
  down: 'not answering',
  unknown: 'no recent lookups',
};

const regions = new Intl.DisplayNames('en', { type: 'region' });
const numbers = new Intl.NumberFormat('en');
const lists = new Intl.ListFormat('en');

/** VIES uses ISO codes except for Greece and Northern Ireland. */
const nameOf = (code: MemberState): string =>
  code === 'XI' ? 'Northern Ireland' : (regions.of(code === 'EL' ? 'GR' : code) ?? code);

const duration = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** A share in percent, rounded down: 100 % means all of them. */
const percent = (part: number, whole: number): string => `${(Math.floor((1_000 * part) / whole) / 10).toFixed(1)} %`;

const time = (iso: string): string => `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;

const countOf = (count: number, noun: string): string => `${numbers.format(count)} ${noun}${count === 1 ? '' : 's'}`;

/** With more member states in trouble, the sentence at the top counts them. */
const MAX_NAMES = 4;

/** The sentence at the top. Member states without recent lookups are left out. */
const headline = (states: readonly StateNow[]): string => {
  const with_ = (health: Health) =>
    states.filter((state) => state.health === health).map((s) => nameOf(s.member_state));
  const [down, degraded] = [with_('down'), with_('degraded')];
  const isLong = down.length + degraded.length > MAX_NAMES;
  const named = (names: string[]) => (isLong ? countOf(names.length, 'member state') : lists.format(names));
  const parts = [
    ...(down.length > 0 ? [`${named(down)} ${down.length > 1 ? 'do' : 'does'} not answer`] : []),
    ...(degraded.length > 0 ? [`${named(degraded)} ${degraded.length > 1 ? 'answer' : 'answers'} only in part`] : []),
  ];
  if (parts.length > 0) return parts.join('; ');
  return states.some(({ health }) => health === 'ok')
    ? 'All member states that were looked up are answering'
    : 'No lookups in the last 15 minutes';
};

const tile = ({ member_state: code, health, p50_ms: p50 }: StateNow): string => {
  const [column, row] = MAP_POSITIONS[code];
  const figure = p50 === null ? '' : duration(p50);
  const text = `${nameOf(code)}: ${WORDS[health]}${p50 === null ? '' : `, median ${figure}`}`;
  return `<li class="tile ${health}" style="grid-area:${row}/${column}" title="${text}"><span class="hidden">${text}</span><b aria-hidden="true">${code}<i>${MARKS[health]}</i></b><span aria-hidden="true">${figure}</span></li>`;
};

const SHOWN_HEALTHS: readonly Health[] = ['ok', 'degraded', 'down'];

/** The hours of one member state as a strip: one path for each health, one rectangle for each run of equal hours. */
const strip = (hours: readonly Hour[], from: number, length: number): string => {
  const healths = new Array<Health>(length).fill('unknown');
  for (const { hour, asked, answered, saturated } of hours) {
    const position = Math.floor((Date.parse(hour) - from) / HOUR_MS);
    if (asked > 0 && position >= 0 && position < length)
      healths[position] = healthOf(answered / asked, saturated / asked);
  }
  const paths: Partial<Record<Health, string>> = {};
  for (let start = 0; start < length; ) {
    const health = healths[start] ?? 'unknown';
    let end = start + 1;
    while (end < length && healths[end] === health) end += 1;
    paths[health] = `${paths[health] ?? ''}M${start} 0h${end - start}v1h${start - end}z`;
    start = end;
  }
  const drawn = SHOWN_HEALTHS.map((health) => (paths[health] ? `<path class="${health}" d="${paths[health]}"/>` : ''));
  return `<svg viewBox="0 0 ${length} 1" preserveAspectRatio="none" aria-hidden="true">${drawn.join('')}</svg>`;
};

const row = (state: StateNow, hours: readonly Hour[], from: number, length: number): string => {
  const asked = hours.reduce((sum, hour) => sum + hour.asked, 0);
  const answered = hours.reduce((sum, hour) => sum + hour.answered, 0);
  const share = asked === 0 ? 'no lookups' : `${percent(answered, asked)} answered`;
  const lookups = `${countOf(asked, 'lookup')} in 30 days`;
  return `<li><h3>${nameOf(state.member_state)} <span>${state.member_state}</span></h3><span class="pill ${state.health}">${WORDS[state.health]}</span>${strip(hours, from, length)}<p title="${lookups}">${share}</p></li>`;
};

/** The public status page, as HTML without scripts. Everything in it comes from fixed lists and numbers. */
export const renderStatusPage = ({ generated_at, member_states, history }: PublicStatus): string => {
  const to = Math.ceil(Date.parse(history.to) / HOUR_MS) * HOUR_MS;
  const from = Math.floor(Date.parse(history.from) / HOUR_MS) * HOUR_MS;
  const hoursOf = (code: MemberState) => history.data.filter(({ member_state }) => member_state === code);
  const rows = member_states
    .toSorted((one, other) => nameOf(one.member_state).localeCompare(nameOf(other.member_state), 'en'))
    .map((state) => row(state, hoursOf(state.member_state), from, (to - from) / HOUR_MS));
  const legend = (['ok', 'degraded', 'down', 'unknown'] as const).map(
    (health) => `<li class="${health}">${WORDS[health]}${MARKS[health] && ` (${MARKS[health]})`}</li>`,
  );
  const content = `<h1>${headline(member_states)}</h1>
<p class="soft">Whether the VAT registers of the member states answer, as measured by the lookups of this service in the last 15 minutes. Updated ${time(generated_at)}; reload the page for newer figures.</p>
<section aria-labelledby="now"><h2 id="now">Now</h2>
<ul class="map">${member_states.map(tile).join('')}</ul>
<ul class="legend">${legend.join('')}</ul>
<p class="soft small">Each tile shows the median response time.</p></section>
<section aria-labelledby="days"><h2 id="days">The last 30 days, by the hour</h2>
<ul class="states">${rows.join('\n')}</ul>
<p class="axis soft small"><span>30 days ago</span><span>now</span></p></section>
<p class="soft small">An outage is never a verdict: a number whose member state does not answer waits and is checked later. The same figures as <a href="/status.json">JSON</a>.</p>`;
  return renderPublicPage({ title: 'Status of the member states', style: STATUS_STYLE, content });
};
