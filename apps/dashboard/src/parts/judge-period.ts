import type { Unfit } from './form-context.js';

/** What is wrong with a form's period, by its inputs `from` and `to`; `to` is the first day that is left out. Null for what holds a day. */
export const judgePeriod = (form: HTMLFormElement): Unfit => {
  const [from, to] = (['from', 'to'] as const).map((name) => form.querySelector<HTMLInputElement>(`[name=${name}]`));
  if (!from?.value || !to?.value || from.value < to.value) return null;
  return { id: to.id, text: 'Before is the first day that is left out: choose one later than From.' };
};
