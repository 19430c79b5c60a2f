"""What a person sees and decides about what is stored of them."""
