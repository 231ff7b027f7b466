"""Requirements that nobody could use, as a careless reading of talks makes them.

Title, actor and action of each, in several domains. A reader throws out every one of them.
"""

from __future__ import annotations

NONSENSE = (
    # a gym
    ("With Definitely", "User", "Have with definitely"),
    ("Yeah That", "User", "Provide yeah that"),
    ("Lockers Thing", "System", "So basically the lockers thing"),
    ("Question", "System", "What about the changing rooms"),
    ("Members", "Member", "See it"),
    # a library
    ("Books And", "System", "Show books and"),
    ("That Would", "User", "That would be good"),
    ("Lending", "User", "I would like that too"),
    ("Do You", "System", "Do you want reminders as well?"),
    ("Shelf", "User", "On the shelf downstairs near the entrance"),
    # a farm shop
    ("Thing", "System", "Provide the main thing"),
    ("Eggs", "User", "Eggs, milk, the usual"),
    ("Honestly", "User", "Honestly it depends on the season"),
    ("Them", "System", "Send them every week"),
    ("Stuff", "User", "Use stuff like that"),
    ("Use", "User", "Use"),
    # a hotel
    ("Guests", "System", "They should know before"),
    ("Breakfast", "System", "With the breakfast"),
    ("Okay", "User", "Okay so rooms first"),
    ("Keys", "User", "**Keys**: digital or plastic"),
    ("Would Be", "System", "It would be for the reception"),
    ("Housekeeping", "System", "And then the housekeeping in the morning"),
    # a courier
    ("Way", "User", "Have a better way"),
    ("You Know", "Driver", "Scan, you know, at the door"),
    ("Parcels", "System", "How do drivers see the parcels?"),
    ("Cases", "System", "Because of the parcels on Monday"),
    ("Same", "User", "Do the same for the others"),
    ("Something", "Dispatcher", "Get something"),
    # a museum
    ("Tickets", "User", "We sell tickets at the desk and online"),
    ("Um", "User", "Um the audio guide in two languages"),
    ("Exhibition", "System", "Exhibitions for the summer"),
    ("Also", "System", "Also a few other things"),
    ("Not Sure", "User", "Not sure about the schools"),
    ("Schools", "System", "Should the schools pay?"),
    # a dentist
    ("Chair", "User", "Work with that"),
    ("Patients", "System", "Notification to the"),
    ("Sounds", "User", "Sounds good for me"),
    ("X Ray", "System", "# X-rays"),
    ("Everyone", "User", "There is one at the desk"),
    ("My", "User", "I can never find my papers"),
    ("These", "System", "These are the important ones"),
    ("Kind Of", "User", "Show kind of a list"),
    ("More", "System", "Need more"),
    ("Anything", "User", "Have anything else"),
)
