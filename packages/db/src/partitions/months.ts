import { monthId, timeOfId } from '../uuid-bounds.js';

/** The months between two ids that are the lowest of their month, with names such as `2027_01`. */
export const monthsBetween = (from: string, to: string): { name: string; from: string; to: string }[] => {
  const months: { name: string; from: string; to: string }[] = [];
  for (let start = from; start < to; start = monthId(timeOfId(start), 1))
    months.push({ name: nameOfMonth(start), from: start, to: monthId(timeOfId(start), 1) });
  return months;
};

/** The month of an id, such as `2027_01`. */
export const nameOfMonth = (id: string): string => timeOfId(id).toISOString().slice(0, 7).replace('-', '_');
