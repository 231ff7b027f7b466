"""What was said in talks of eight domains, and what a reader would keep of it.

The first table was written before the rules, the second one after them, to see what generalises.
"""

from __future__ import annotations

from typing import NamedTuple

QUOTED = "quoted"
NOTHING = "nothing"


class Said(NamedTuple):
    text: str
    becomes: str
    """An action, QUOTED or NOTHING."""
    question: str = ""
    before: str = ""
    """What the same speaker said just before."""
    analyst: bool = False
    actor: str = ""
    title: str = ""
    condition: str = ""
    also: tuple[str, ...] = ()
    """Further requirements of the same sentence."""


BEFORE_THE_RULES = (
    # Bicycle rental
    Said(
        "We want customers to be able to extend a rental from their phone.",
        "Extend a rental from their phone",
        actor="Customer",
        title="Rental Extension",
    ),
    Said(
        "So, um, the system must block a bike when the brakes are reported as broken.",
        "Block a bike",
        condition="When the brakes are reported as broken",
        actor="System",
    ),
    Said(
        "yes, and it should also send me an email every evening with the open rentals",
        "Send the user an email every evening with the open rentals",
        question="Would a daily summary help?",
        actor="System",
    ),
    Said(
        "You would like to see all overdue bikes on one page.",
        "See all overdue bikes on one page",
        analyst=True,
        actor="User",
        title="All Overdue Bikes on One Page",
    ),
    Said(
        "nobody except the manager can change the deposit",
        "Change the deposit, which nobody else may do",
        actor="Manager",
    ),
    Said(
        "Staff should never see the card numbers.",
        "Prevent staff from seeing the card numbers",
        actor="System",
    ),
    Said("Yeah definitely.", NOTHING, question="Is that important?"),
    Said("With definitely a map.", NOTHING),
    # Vegetable boxes
    Said(
        "I need a list of all boxes per street so the driver doesn't have to zigzag.",
        "Provide a list of all boxes per street",
        actor="System",
        title="List of All Boxes per Street",
    ),
    Said(
        "can we have a button to pause the subscription?",
        "Provide a button to pause the subscription",
    ),
    Said(
        "Should the customer be able to skip a week?", "Skip a week", analyst=True, actor="Customer"
    ),
    Said(
        "If someone is allergic to nuts, the packing slip must show a warning.",
        "Show a warning on the packing slip",
        condition="If someone is allergic to nuts",
    ),
    Said(
        "Orders can only be changed until Wednesday noon.",
        "Ensure that orders can only be changed until Wednesday noon",
    ),
    Said(
        "it would be nice if farmers could upload a photo of the harvest",
        "Upload a photo of the harvest",
        actor="Farmer",
    ),
    Said("ok", NOTHING),
    # Music school
    Said(
        "Teachers must enter absences within 24 hours.",
        "Enter absences within 24 hours",
        actor="Teacher",
    ),
    Said("They should also be able to see the old ones.", QUOTED),
    Said(
        "Parents shouldn't have to log in just to cancel a lesson.",
        "Ensure that parents do not have to log in just to cancel a lesson",
    ),
    Said(
        "I always have to ring round to find out who's free.",
        "Ensure that the user does not have to ring round to find out who's free",
    ),
    Said("I never know which van is where.", "Know which van is where", actor="User"),
    Said(
        "What I'm missing is a map with all the vans on it.",
        "Provide a map with all the vans on it",
    ),
    Said("It'd be good if the list was sorted by date.", "Sort the list by date"),
    Said(
        "I don't want anyone to see my phone number.",
        "Prevent everybody from seeing the phone number",
    ),
    Said(
        "We're not allowed to keep the address longer than a year.",
        "Prevent the user from keeping the address longer than a year",
    ),
    Said(
        "You've got to be able to cancel up to the evening before.",
        "Cancel up to the evening before",
        actor="User",
    ),
    Said(
        "The application will calculate the monthly fee automatically based on the number of "
        "lessons.",
        "Calculate the monthly fee automatically based on the number of lessons",
        analyst=True,
        actor="System",
    ),
    Said(
        "**Reminders** – the system sends a reminder two days before each lesson",
        "Send a reminder two days before each lesson",
        analyst=True,
        actor="System",
    ),
    Said(
        "so basically you want the timetable to be visible without a login, correct?",
        "Make the timetable visible without a login",
        analyst=True,
    ),
    # Animal shelter
    Said(
        "we must be able to print a card for each cage", "Print a card for each cage", actor="User"
    ),
    Said("There should be a photo of every animal.", "Provide a photo of every animal"),
    Said("I mean, it's like, you know, when it comes in.", NOTHING),
    Said(
        "Volunteers can book walks, but only after the training.",
        "Book walks, but only after the training",
        actor="Volunteer",
    ),
    Said(
        "When an animal is adopted, we'd like the system to archive its file.",
        "Archive the animal's file",
        condition="When an animal is adopted",
    ),
    Said(
        "The vet enters the vaccination and the system reminds us a month before it expires.",
        "Enter the vaccination",
        actor="Vet",
        also=("Remind the user a month before the vaccination expires",),
    ),
    Said(
        "it has to be deleted",
        "Delete the chip number",
        before="We don't want to keep the chip number after a year.",
    ),
    Said("make it bigger", NOTHING),
    # Theatre
    Said(
        "The website must handle at least 2,000 visitors at the same time.",
        "Handle at least 2,000 visitors at the same time",
        actor="System",
        title="At Least 2,000 Visitors at the Same Time",
    ),
    Said(
        "Would you like the tickets to be sent as PDF?",
        "Send the tickets as PDF",
        analyst=True,
        actor="System",
    ),
    Said(
        "I think we should probably also have, like, a waiting list for sold-out shows.",
        "Provide a waiting list for sold-out shows",
        title="Waiting List for Sold-Out Shows",
    ),
    Said(
        "The box office has to refund tickets, unless the show has already started.",
        "Ensure that the box office refunds tickets",
        condition="Unless the show has already started",
    ),
    Said("They need it quickly.", NOTHING),
    Said("Great, thank you very much!", NOTHING),
    # House management
    Said(
        "Please make sure that the caretaker gets a message within ten minutes.",
        "Ensure that the caretaker gets a message within ten minutes",
    ),
    Said(
        "I would like that my neighbours cannot see my complaints.",
        "Prevent the neighbours from seeing the complaints",
    ),
    Said(
        "Do you want the app to translate the announcements into Turkish?",
        "Translate the announcements into Turkish",
        analyst=True,
        actor="System",
    ),
    Said("Well, the thing is that the paper list gets lost all the time.", QUOTED),
    Said("The app shall work on old phones too.", "Work on old phones", actor="System"),
    Said(
        "and also the cellar",
        QUOTED,
        question="Which rooms?",
        before="Tenants report a broken light in the stairs.",
    ),
    # Workshop for pottery
    Said(
        "Members book a wheel for two hours at most.",
        "Book a wheel for two hours at most",
        actor="Member",
    ),
    Said(
        "I'd want to get notified as soon as the kiln is below 80 degrees.",
        "Notify the user",
        condition="As soon as the kiln is below 80 degrees",
    ),
    Said(
        "We decided that beginners may not use the big kiln.",
        "Prevent beginners from using the big kiln",
    ),
    Said(
        "You mentioned you would like to add notes to each glaze.",
        "Add notes to each glaze",
        analyst=True,
        actor="User",
        title="Adding Notes to Each Glaze",
    ),
    Said(
        "Members and guests need separate prices.", "Provide separate prices for members and guests"
    ),
    # Clinic for teeth (laboratory)
    Said(
        "the lab technician scans the impression and attaches it to the case",
        "Scan the impression and attach it to the case",
        actor="Lab Technician",
    ),
    Said(
        "Every change of a case must be logged with name and time.",
        "Log every change of a case with name and time",
        actor="System",
    ),
    Said("We have three dentists and forty patients a day.", QUOTED),
    Said(
        "I'd rather have a short form instead of those five pages.",
        "Provide a short form instead of the five pages",
    ),
    Said("The screen should not be cluttered, our people are not computer people.", QUOTED),
    Said(
        "Can dentists upload scans directly, or do they mail them?",
        "Upload scans directly",
        analyst=True,
        actor="Dentist",
    ),
    Said(
        "For each case the delivery date is shown in red if it is less than two days away",
        "Show the delivery date in red for each case",
        condition="If it is less than two days away",
    ),
    Said("Is there anything else?", NOTHING, analyst=True),
)

AFTER_THE_RULES = (
    # Bicycle rental
    Said("Mechanics need to mark a bike as repaired.", "Mark a bike as repaired", actor="Mechanic"),
    Said(
        "the app should show how many bikes are left at each station",
        "Show how many bikes are left at each station",
        actor="System",
    ),
    Said(
        "Customers must not be able to rent two bikes at once.",
        "Prevent customers from renting two bikes at once",
    ),
    Said(
        "um yeah so I would like to be able to, you know, change the prices myself",
        "Change the prices",
        actor="User",
    ),
    Said(
        "If the bike is not returned by eight, the customer gets a text message.",
        "Get a text message",
        actor="Customer",
        condition="If the bike is not returned by eight",
    ),
    Said("What about insurance?", NOTHING, analyst=True),
    Said(
        "Could it send the invoice to the company directly?",
        "Send the invoice to the company directly",
        actor="System",
    ),
    Said(
        "Bikes older than five years should be marked in grey.",
        "Mark bikes older than five years in grey",
        actor="System",
    ),
    # Vegetable boxes
    Said(
        "we need the driver to take a picture when he leaves the box",
        "Take a picture",
        actor="Driver",
        condition="When he leaves the box",
    ),
    Said(
        "So you want subscribers to choose their delivery day, is that right?",
        "Choose their delivery day",
        analyst=True,
        actor="Subscriber",
    ),
    Said("I dont want adds on the page", QUOTED),
    Said(
        "The farmer gets a list of the boxes on Monday and packs them.",
        "Get a list of the boxes on Monday and pack them",
        actor="Farmer",
    ),
    Said("At least three days.", QUOTED, question="How much notice do you give?"),
    Said(
        "It would be great to have an overview of all the returns.",
        "Provide an overview of all the returns",
    ),
    Said(
        "Right, and the total should update when I add a box.",
        "Update the total",
        condition="When the user adds a box",
    ),
    # Music school
    Said("Can parents see the homework?", "See the homework", analyst=True, actor="Parent"),
    Said(
        "The system must keep the attendance for two years and then delete it.",
        "Keep the attendance for two years and then delete it",
        actor="System",
    ),
    Said("No, only the office can do that.", NOTHING),
    Said("I want that the room plan is printed every Friday.", "Print the room plan every Friday"),
    Said("We lost two pupils last year because nobody called them back.", QUOTED),
    Said(
        "A pupil who is ill should be able to move a lesson up to two hours before it starts.",
        "Move a lesson up to two hours before it starts",
        actor="Pupil",
        condition="For a pupil who is ill",
    ),
    Said(
        "Never show the phone numbers of the children.",
        "Never show the phone numbers of the children",
        actor="System",
    ),
    # Animal shelter
    Said(
        "There has to be a search by breed, age and size.",
        "Provide a search by breed, age and size",
    ),
    Said(
        "Once the vet has signed, nobody may change the record.",
        "Prevent everybody from changing the record",
        condition="Once the vet has signed",
    ),
    Said(
        "Adopters can ask questions about an animal through the website.",
        "Ask questions about an animal through the website",
        actor="Adopter",
    ),
    Said("it should be easy", NOTHING),
    Said("Please add a field for allergies.", "Add a field for allergies"),
    Said(
        "my colleagues want to filter the animals by kennel",
        "Filter the animals by kennel",
        actor="Employee",
    ),
    Said(
        "- Donations are assigned to a project automatically",
        "Assign donations to a project automatically",
        analyst=True,
    ),
    Said("Both.", NOTHING, question="Do you want cats or dogs on the front page?"),
    # Theatre
    Said(
        "If a show is cancelled we want everyone who bought a ticket to be informed.",
        "Inform everyone who bought a ticket",
        condition="If a show is cancelled",
    ),
    Said(
        "The seat plan must load within two seconds on a phone.",
        "Load the seat plan within two seconds on a phone",
        actor="System",
    ),
    Said("Ushers scan the ticket at the door.", "Scan the ticket at the door", actor="Usher"),
    Said(
        "We thought that members could maybe reserve a day earlier.",
        "Reserve a day earlier",
        actor="Member",
    ),
    Said("Would it be possible to export the sales to Excel?", "Export the sales to Excel"),
    Said(
        "I'd like the names of the donors to appear in the programme.",
        "Ensure that the names of the donors appear in the programme",
    ),
    Said("We don't need a chat.", QUOTED),
    # House management
    Said(
        "The caretaker should be notified by push message, not by e-mail.",
        "Notify the caretaker by push message, not by e-mail",
        actor="System",
    ),
    Said("Owners may vote only once per decision.", "Vote only once per decision", actor="Owner"),
    Said(
        "Tenants should only see the bills of their own flat.",
        "See only the bills of their own flat",
        actor="Tenant",
    ),
    Said("i would love if i could attach a video", "Attach a video", actor="User"),
    Said("Then I call the plumber and he comes or he doesn't.", "Call the plumber"),
    Said(
        "The heating company has to get the readings by the tenth of each month.",
        "Ensure that the heating company gets the readings by the tenth of each month",
    ),
    Said("The letter", QUOTED, question="What do you send them today?"),
    Said("Is the app free?", NOTHING),
    # Workshop for pottery
    Said(
        "Let members cancel up to 24 hours before the course.",
        "Cancel up to 24 hours before the course",
        actor="Member",
    ),
    Said(
        "The teacher and the assistants, but not the guests.",
        QUOTED,
        question="Who may open the glaze cupboard?",
    ),
    Said(
        "Glazes with lead need a red warning sign.",
        "Provide a red warning sign for glazes with lead",
    ),
    Said(
        "So the system will ask for the weight of the clay after each session.",
        "Ask for the weight of the clay after each session",
        analyst=True,
        actor="System",
    ),
    Said(
        "You would like to be warned when the clay runs low.",
        "Warn the user",
        analyst=True,
        condition="When the clay runs low",
    ),
    Said("I think that the main thing is that it has to be reliable, honestly.", NOTHING),
    # Laboratory for teeth
    Said(
        "Invoices get sent automatically as soon as a case is closed.",
        "Send invoices automatically",
        condition="As soon as a case is closed",
    ),
    Said(
        "Technicians have to confirm each step with their initials.",
        "Confirm each step with their initials",
        actor="Technician",
    ),
    Said(
        "a kind of traffic light for late cases would be helpful",
        "Provide a traffic light for late cases",
    ),
    Said(
        "I guess dentists would want to follow their case online.",
        "Follow their case online",
        actor="Dentist",
    ),
    Said(
        "Should a remake be linked to the original case?",
        "Link a remake to the original case",
        analyst=True,
    ),
    Said(
        "The patients name must not appear on the outside of the parcel.",
        "Ensure that the patients name does not appear on the outside of the parcel",
    ),
    Said("No more than ten.", QUOTED, question="How many open cases may a technician have?"),
    Said("Perfect, that covers it from my side.", NOTHING),
)


ACCEPTED_OR_RUN_TOGETHER = (
    # Choir
    Said(
        "If a singer is ill, on holiday, or otherwise absent, should the app warn the conductor?",
        "Warn the conductor",
        analyst=True,
        condition="If a singer is ill, on holiday, or otherwise absent",
    ),
    Said(
        "If a reminder cannot be delivered, should that automatically alert the secretary?",
        "Automatically alert the secretary",
        analyst=True,
    ),
    Said(
        "Should uploading a new score automatically replace the old score?",
        "Ensure that uploading a new score automatically replaces the old score",
        analyst=True,
    ),
    Said(
        "While the secretary enters a concert, should the app save a draft, so a lost connection "
        "does not lose the work?",
        "Save a draft",
        analyst=True,
        condition="While the secretary enters a concert",
    ),
    Said("the app now covers rehearsals and scores", "Cover rehearsals and scores", analyst=True),
    Said("outgoing letters, refunds with manual corrections", QUOTED, analyst=True),
    # Tool library
    Said(
        "Should prices and deposits be managed by you and the deputy?",
        "Allow the user and the deputy to manage prices and deposits",
        analyst=True,
    ),
    Said(
        "Should the phone app print labels and work offline?",
        "Print labels and work offline",
        analyst=True,
    ),
    Said(
        "Should the system reject negative weights and prevent confirmation?",
        "Reject negative weights and prevent confirmation",
        analyst=True,
        title="Rejecting Negative Weights",
    ),
    Said(
        "Offline scans should sync automatically.",
        "Sync offline scans automatically",
    ),
    Said(
        "The van goes round on Tuesdays.",
        "Ensure that the van goes round on Tuesdays",
        title="Van Going Round on Tuesdays",
    ),
    Said(
        "the treasurer should get the report as PDF, weekly is enough",
        "Get the report as PDF",
        actor="Treasurer",
    ),
    Said("All records must remain.", "Keep all records"),
    Said(
        "at the end of the season i want to see every crate",
        "See every crate at the end of the season",
    ),
)

# What the first readings of quotations asked for: each was quoted, or worded as nonsense.
MORE_THAN_QUOTED = (
    Said(
        "Should drafts, letters and forms all go to the archive?",
        "Ensure that drafts, letters and forms go to the archive",
        analyst=True,
    ),
    Said(
        "What I would like to have is a shelf plan for each room.",
        "Provide a shelf plan for each room",
    ),
    Said("It would be good if I don't have to count it twice.", QUOTED),
    Said(
        "It would be good if I don't have to count the keys twice.",
        "Ensure that the user does not have to count the keys twice",
    ),
    Said(
        "If somebody is late three times, then he should not be able to book a court.",
        "Prevent the person from booking a court",
        condition="If somebody is late three times",
    ),
    Said("Everybody should decide by himself.", NOTHING),
    Said("My canoe will not get lost.", QUOTED),
    Said("Let's talk about the oars.", QUOTED),
    Said(
        "A waiting list for the boats would be nice as well.",
        "Provide a waiting list for the boats",
    ),
    Said(
        "a printed list with the names of each crew",
        "Provide a printed list with the names of each crew",
    ),
    Said(
        "When the boat comes in we write down the time.",
        "Write down the time",
        condition="When the boat comes in",
    ),
    Said("we must not skip this because the club pays and you cannot type there", QUOTED),
)

# Rules that fit no order keep their own words; what two people are in, or two sentences, is quoted.
IN_THEIR_OWN_WORDS = (
    Said(
        "Closed tickets can't be reopened but can be copied.",
        "Ensure that closed tickets can't be reopened but can be copied",
        title="Closed Tickets Not Reopened",
    ),
    Said(
        "I can scan as much as I want until I log out.",
        "Ensure that the user can scan as much as they want until they log out",
    ),
    Said(
        "We should have only one list and a map, also called the plan.",
        "Provide only one list and a map, also called the plan",
    ),
    Said(
        "When a loan is returned and checked it can't be edited.",
        "Never edit the loan",
        condition="When a loan is returned and checked",
    ),
    Said("ALL LOANS MUST BE checked first", "Check all loans first"),
    Said("You can suggest me one if I need anything.", QUOTED),
    Said("So you're saying that the nurse must sign each sheet.", "Sign each sheet", actor="Nurse"),
    Said("I will summarize it to make sure that I have understood your wishes.", NOTHING),
    Said("They let you sit outside the hall.", "Let the user sit outside the hall"),
)
