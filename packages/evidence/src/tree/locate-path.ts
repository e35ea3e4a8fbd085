/** Where a node of a tree lies: level 0 holds the leaves' hashes, the last level the root; `index` counts from the left. */
export type NodePlace = { level: number; index: number };

/**
 * The nodes that prove leaf `index` of a tree of `size` leaves, from the leaf upwards: what to read where a tree's levels
 * are stored (see `buildTree`). Throws a RangeError for a leaf that is not in the tree.
 */
export const locatePath = (size: number, index: number): NodePlace[] => {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`there is no leaf ${index} in a tree of ${size}`);
  const places: NodePlace[] = [];
  let [width, place] = [size, index];
  for (let level = 0; width > 1; level += 1) {
    const sibling = place % 2 === 0 ? place + 1 : place - 1;
    // The last node of an odd level has no sibling and rises unchanged.
    if (sibling < width) places.push({ level, index: sibling });
    width = Math.ceil(width / 2);
    place = Math.floor(place / 2);
  }
  return places;
};
