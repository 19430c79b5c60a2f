"""Operations on documents that programs and pages add and read."""
