import { type ReactNode, useState } from 'react';

/** A box onto which a file can be dropped. It contains the file field, which works without a mouse. */
export const DropZone = ({ onDrop, children }: { onDrop: (file: File | undefined) => void; children: ReactNode }) => {
  const [isOver, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: drag and drop needs a mouse; the file field works without one
    <div
      className={`drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop(event.dataTransfer.files[0]);
      }}
    >
      {children}
    </div>
  );
};
