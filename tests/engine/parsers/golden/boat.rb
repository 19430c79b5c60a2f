require "rope"

# A boat that floats.
class Boat
  attr_reader :name

  # Sail to a port and stay there for the night, if the weather allows it and the crew wants it, which it does on most
  # days of the year, except for those in the winter, in which no one sails anywhere at all, not even to the next island,
  # because the water is cold and the wind is strong and the harbor is closed for all the boats of the whole region.
  def sail(to)
    Chart.open(to)
  end

  # Anchor the boat at a place with at least four meters of water under its keel, not too far from the shore, and hang
  # a lamp into the rigging, so that others can see it at night, as the rules of the harbor demand it from all the boats.
  def anchor
    drop
  end
end
