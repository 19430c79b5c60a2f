"""Operations for managers: channels and their settings, questions, verified answers, usage and health."""
