import type { ReactNode } from 'react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay, type ModalOverlayProps } from 'react-aria-components/Modal';
import { Button } from './button.js';

type QuestionProps = {
  /** The label of the button that confirms. */
  action: string;
  /** The title of the dialog, such as “Delete this batch?”. */
  question: string;
  children: ReactNode;
  onConfirm: () => void;
  variant?: 'danger' | 'primary';
} & Pick<ModalOverlayProps, 'isOpen' | 'onOpenChange'>;

/** A dialog that confirms an action before it is taken. It is opened by the trigger around it, or is open while `isOpen`. */
export const Question = ({ action, question, children, onConfirm, variant = 'danger', ...overlay }: QuestionProps) => (
  <ModalOverlay {...overlay} className="overlay" isDismissable>
    <Modal className="modal">
      <Dialog role="alertdialog" className="dialog">
        {({ close }) => (
          <>
            <Heading slot="title">{question}</Heading>
            <div className="stack">{children}</div>
            <div className="actions">
              <Button onPress={close}>Cancel</Button>
              <Button
                variant={variant}
                onPress={() => {
                  onConfirm();
                  close();
                }}
              >
                {action}
              </Button>
            </div>
          </>
        )}
      </Dialog>
    </Modal>
  </ModalOverlay>
);

type ConfirmProps = Pick<QuestionProps, 'action' | 'question' | 'children' | 'onConfirm'> & {
  /** Whether the action is under way. */
  isPending: boolean;
  small?: boolean;
};

/** A button for an irreversible action, with a confirmation dialog. */
export const Confirm = ({ isPending, small = false, ...question }: ConfirmProps) => (
  <DialogTrigger>
    <Button variant="danger" small={small} isPending={isPending}>
      {question.action}
    </Button>
    <Question {...question} />
  </DialogTrigger>
);
