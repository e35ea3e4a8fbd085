import type { OneAtATime } from './one-at-a-time.js';

/** Runs at most `most` pieces of work of the same key side by side, in the order they came; those of other keys beside them. */
export const fewAtATime = (most: number): OneAtATime => {
  const places = new Map<string, { taken: number; waiting: (() => void)[] }>();
  return async (key, work) => {
    const place = places.get(key) ?? { taken: 0, waiting: [] };
    places.set(key, place);
    // Whoever leaves hands the place over, so that nobody who comes in between can take it.
    if (place.taken === most) await new Promise<void>((resolve) => place.waiting.push(resolve));
    else place.taken += 1;
    try {
      return await work();
    } finally {
      const next = place.waiting.shift();
      if (next) next();
      else {
        place.taken -= 1;
        if (place.taken === 0) places.delete(key);
      }
    }
  };
};
